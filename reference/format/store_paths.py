"""Paths of a store's files, by its ``broker.conf``, also in a copy on another machine.

``MessageStoreConfig`` has a root, below which everything lies that no key puts elsewhere. ``storePathCommitLog`` may
name several folders, joined by commas (4.9.2 and later, ``MultiPathMappedFileQueue``: a file goes into the folder of
its turn); those of ``readOnlyCommitLogStorePaths`` are read beside them. With ``enableDLegerCommitLog`` the log lies in
``dledger-SELFID/data`` (``DLedgerConfig#getDataStorePath``), or where ``storePathDLedgerCommitLog`` says, behind what
an earlier commit log still holds (``DLedgerCommitLog``, ``dividedCommitlogOffset``). No key moves the consume queues or
``config/``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from reference.format.broker_conf import find_broker_conf, settings
from reference.format.errors import NotAStoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMIT_LOG = "commitlog"
LOG_FILE = re.compile(r"\d{20}")
"""The name of a file of the log: the offset of its first byte."""

_SPLITTER = ","
"""``MessageStoreConfig.MULTI_PATH_SPLITTER``."""

_OFFSETS_V1 = "config/consumerOffsets"
"""``RocksDBConsumerOffsetManager#rocksdbConfigFilePath``, 5.1.4 and later."""

_OFFSETS_V2 = "config/rdb"
"""``ConfigStorage``, 5.3.2 and later."""

_WAY_OUT = "name each folder of the log by --commit-log DIR"


@dataclass(frozen=True, slots=True)
class StorePaths:
    """The paths of a store's files."""

    root: Path
    """The store directory: ``consumequeue/`` and ``config/`` are in it."""
    log_folders: tuple[Path, ...]
    """The folders that hold the files of the log."""
    conf: Path | None = None
    """The ``broker.conf`` that counts; None if there is none."""
    file_bytes: int | None = None
    """``mappedFileSizeCommitLog``: how far the starts of files lie apart; None if nothing says it."""
    rocksdb_offsets: str = ""
    """The folder below the store in whose RocksDB the consumer offsets lie; empty if they lie in a file."""
    doubt: str = ""
    """The message where a file of the log is missing: one of the paths that the settings name was not found."""
    end: int | None = None
    """The offset at which the log is taken to end, as what stands behind it is being written; None if it is all
    read."""

    called: str = ""
    """The name of the store in answers, where it is a copy of one that lies elsewhere; empty if it is not."""

    @property
    def name(self) -> str:
        """The store as an answer names it."""
        return self.called or str(self.root)

    def shown(self, path: Path) -> str:
        """A path as it is where the store lies."""
        is_in_copy = self.called and path.is_relative_to(self.root)
        return f"{self.called}/{path.relative_to(self.root).as_posix()}" if is_in_copy else str(path)

    def name_of(self, path: Path) -> str:
        """A path as an answer shows it: below the store if it is there."""
        root, whole = self.root.absolute(), path.absolute()
        return str(whole.relative_to(root) if whole.is_relative_to(root) else path)

    def absolute(self) -> StorePaths:
        """The same for processes with other working directories."""
        folders = tuple(folder.absolute() for folder in self.log_folders)
        return replace(self, root=self.root.absolute(), log_folders=folders)

    @property
    def note(self) -> str:
        """Where the log was found, if that is not ``commitlog/``."""
        names = [self.name_of(folder) for folder in self.log_folders]
        return "" if names == [COMMIT_LOG] else f"its log is read from {' and '.join(names)}"


def store_paths(store: Path, *, broker_conf: Path | None = None, log_folders: Sequence[Path] = ()) -> StorePaths:
    """Find the files of a store.

    Parameters
    ----------
    broker_conf
        Instead of the one in the store or beside it.
    log_folders
        The folders of the log, instead of those that the settings name.

    Raises
    ------
    NotAStoreError
        There is no such directory, or the log is not where the settings say, nor in the store.
    BrokenConfigError
        The ``broker.conf`` can't be read.
    """
    if not store.exists():
        message = f"{store} does not exist: name a RocketMQ store, a directory with {COMMIT_LOG}/ in it"
        raise NotAStoreError(message)
    if not store.is_dir():
        message = f"{store} is a file: name a RocketMQ store, a directory with {COMMIT_LOG}/ in it"
        raise NotAStoreError(message)
    conf = broker_conf or find_broker_conf(store)
    named = _Named(store, conf)
    found = StorePaths(store, (), conf, named.file_bytes, named.rocksdb_offsets)
    if log_folders:
        for folder in log_folders:
            if not folder.is_dir():
                message = f"--commit-log {folder}: there is no such folder: name one with files of a commit log"
                raise NotAStoreError(message)
        return replace(found, log_folders=_distinct(log_folders))
    if _is_log(store):
        message = f"{store} is the log itself: give the store that it belongs to, with {COMMIT_LOG}/ and config/ in it"
        raise NotAStoreError(message)
    folders = named.folders()
    if (named.uses_dledger and any(_files(store / COMMIT_LOG))) or (not folders and (store / COMMIT_LOG).is_dir()):
        folders.append(store / COMMIT_LOG)
    folders += _of_dledger(store) if not named.uses_dledger or not folders else []
    if not folders:
        message = f"{store} has no {COMMIT_LOG}/ in it, so it is not a RocketMQ store"
        raise NotAStoreError(message)
    return replace(found, log_folders=_distinct(folders), doubt=named.doubt)


class _Named:
    """The folders that a ``broker.conf`` names."""

    def __init__(self, store: Path, conf: Path | None) -> None:
        self._store = store
        self._conf = conf
        self._values = {} if conf is None else {setting.key: setting.value for setting in settings(conf)}
        root = self._values.get("storePathRootDir")
        self._root = None if root is None else PurePosixPath(root.strip())
        self.doubt = ""

    @property
    def uses_dledger(self) -> bool:
        return self._values.get("enableDLegerCommitLog", "").strip().lower() == "true"

    @property
    def file_bytes(self) -> int | None:
        sizes = [self._values.get(key, "") for key in ("mappedFileSizeCommitLog", "mapedFileSizeCommitLog")]
        return next((int(size) for size in sizes if size.isdecimal() and int(size)), None)

    @property
    def rocksdb_offsets(self) -> str:
        """``BrokerController#initializeMetadata``: ``configManagerVersion=v2``, or a store of the type RocksDB."""
        if self._values.get("configManagerVersion") == "v2":
            return _OFFSETS_V2
        if self._values.get("storeType", "").lower() == "defaultrocksdb":
            return _OFFSETS_V1
        if self._conf is not None:
            return ""
        return next((path for path in (_OFFSETS_V1, _OFFSETS_V2) if (self._store / path / "CURRENT").exists()), "")

    def folders(self) -> list[Path]:
        """Those that are there; `NotAStoreError` if one is not, and the log can't be whole without it."""
        key = "storePathDLedgerCommitLog" if self.uses_dledger else "storePathCommitLog"
        paths = self._paths(key)
        if self.uses_dledger and not paths and (self_id := self._values.get("dLegerSelfId")):
            paths = [str((self._root or PurePosixPath()) / f"dledger-{self_id.strip()}" / "data")]
        is_one_of_many = len(paths) > 1
        read_only = self._paths("readOnlyCommitLogStorePaths") if is_one_of_many or self.uses_dledger else []
        folders: dict[Path, str] = {}
        for path in [*paths, *read_only]:
            if is_one_of_many:
                message = (
                    f"{self._conf}: {key} names more than one path, and {path} is neither there nor below {self._store}"
                )
            else:
                message = f"{self._store} has no {COMMIT_LOG}/ in it, and {key}={path} of {self._conf} is not there"
            message = f"{message}: {_WAY_OUT}"
            found = self._found(PurePosixPath(path))
            if found is None and (is_one_of_many or not _has_log(self._store)):
                raise NotAStoreError(message)
            if found in folders:
                self.doubt = message
            elif found is not None:
                folders[found] = path
        return list(folders)

    def _paths(self, key: str) -> list[str]:
        return [path for path in self._values.get(key, "").strip().split(_SPLITTER) if path.strip()]

    def _found(self, path: PurePosixPath) -> Path | None:
        """The folder that a path stands for: in a copy, what has its name there; otherwise the path itself."""
        store, root = self._store, self._root
        parts = path.parts[1:] if path.is_absolute() else path.parts
        below = [store.joinpath(*parts[first:]) for first in range(len(parts))]
        if root is not None and path.is_relative_to(root):
            below.insert(0, store / path.relative_to(root))
        itself = [Path(path)] if path.is_absolute() else []
        is_own = root is not None and root.is_absolute() and Path(root).resolve() == store.resolve()
        candidates = [*itself, *below] if is_own else [*below, *itself]
        return next((candidate for candidate in candidates if candidate.is_dir()), None)


def _of_dledger(store: Path) -> list[Path]:
    """The folder of DLedger's log in a store whose settings say nothing of it."""
    found = sorted(folder for folder in store.glob("dledger-*/data") if any(_files(folder)))
    if len(found) > 1:
        names = ", ".join(str(folder.relative_to(store)) for folder in found)
        message = f"{store} holds the logs of several brokers of a DLedger group ({names}): {_WAY_OUT}"
        raise NotAStoreError(message)
    return found


def _is_log(folder: Path) -> bool:
    return not (folder / COMMIT_LOG).exists() and any(LOG_FILE.fullmatch(path.name) for path in _files(folder))


def _has_log(store: Path) -> bool:
    return (store / COMMIT_LOG).is_dir() or any(store.glob("dledger-*/data"))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else iter(())


def _distinct(folders: Sequence[Path]) -> tuple[Path, ...]:
    return tuple({folder.resolve(): folder for folder in reversed(folders)}.values())[::-1]
