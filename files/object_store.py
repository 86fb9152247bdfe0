"""Object stores (S3, Google Cloud Storage, Azure Blob) through `obstore`: the object_store crate of Arrow's Rust.

An object appears whole, and ``If-None-Match: *`` lets a store refuse a second one of a name. Credentials, region and
endpoint are those of the environment: ``AWS_ACCESS_KEY_ID``, ``AWS_ENDPOINT_URL``, roles of an instance and so on.
"""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from files.remote_file_system import RemoteEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from obstore.store import ObjectStore as Opened

_CODE: Final = re.compile(r"<Code>(\w+)</Code>")
_MESSAGE: Final = re.compile(r"<Message>([^<]+)</Message>")
_FULL: Final = re.compile(r"InsufficientStorage|StorageFull|QuotaExceeded|\b507 ")
_MISSING: Final = re.compile(r"NoSuchBucket|ContainerNotFound|bucket does not exist", re.IGNORECASE)

REQUEST: Final = "60s"
"""A request that takes longer fails."""

RETRIES: Final = 100
RETRY_SECONDS: Final = 20
"""So often at most, and so long, are requests tried again that a server answers by 5xx or 429, or not at all: in that
time one restarts, and whoever has named a wrong address does not wait much longer."""

_WAITS: Final = {"init_backoff": timedelta(milliseconds=100), "base": 3, "max_backoff": timedelta(seconds=2)}
"""A wait between two tries is drawn between the first and so many times the one before."""


class ObjectStore:
    """A :class:`files.remote_file_system.RemoteFileSystem` of one bucket, by its URI."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    @cached_property
    def _store(self) -> Opened:
        from obstore.store import from_url

        options: Any = {"timeout": REQUEST, "connect_timeout": "5s", "allow_http": True}
        retry: Any = {
            "max_retries": RETRIES,
            "retry_timeout": timedelta(seconds=RETRY_SECONDS),
            "backoff": _WAITS,
        }
        return from_url(self._uri, client_options=options, retry_config=retry)

    def look(self, key: str) -> RemoteEntry | None:
        """As :meth:`files.remote_file_system.RemoteFileSystem.look`."""
        import obstore

        with _in_one_line(self._uri, key):
            if key:
                try:
                    head = obstore.head(self._store, key)
                except FileNotFoundError:
                    pass
                else:
                    return RemoteEntry(
                        key.rpartition("/")[2], head["size"], str(head["e_tag"] or head["last_modified"])
                    )
            first = next(iter(obstore.list(self._store, key or None, chunk_size=1)), [])
        return RemoteEntry(key.rpartition("/")[2], None) if len(first) else None

    def entries(self, key: str) -> list[RemoteEntry]:
        """As :meth:`files.remote_file_system.RemoteFileSystem.entries`."""
        import obstore

        with _in_one_line(self._uri, key):
            found = obstore.list_with_delimiter(self._store, key or None)
        files = [
            RemoteEntry(_name(one["path"]), one["size"], str(one["e_tag"] or one["last_modified"]))
            for one in found["objects"]
            if one["path"].rstrip("/") != key  # some make an object for the folder itself
        ]
        return sorted([*files, *(RemoteEntry(_name(path), None) for path in found["common_prefixes"])])

    def read(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        """As :meth:`files.remote_file_system.RemoteFileSystem.read`."""
        import obstore

        with _in_one_line(self._uri, key):
            if end is None:
                return bytes(obstore.get(self._store, key).bytes())[start:]
            return bytes(obstore.get_range(self._store, key, start=start, end=end)) if end > start else b""

    def put(self, key: str, content: bytes) -> None:
        """As :meth:`files.remote_file_system.RemoteFileSystem.put`."""
        import obstore

        with _in_one_line(self._uri, key):
            obstore.put(self._store, key, content)

    def create(self, key: str, content: bytes) -> bool:
        """As :meth:`files.remote_file_system.RemoteFileSystem.create`.

        A request that was tried again may have been carried out the first time: then the file that is there is ours.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with _in_one_line(self._uri, key):
            try:
                obstore.put(self._store, key, content, mode="create", use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return bytes(obstore.get(self._store, key).bytes()) == content
        return True

    def delete(self, key: str) -> None:
        """As :meth:`files.remote_file_system.RemoteFileSystem.delete`."""
        import obstore

        with _in_one_line(self._uri, key):
            try:
                obstore.delete(self._store, key)
            except FileNotFoundError:
                return

    def delete_folder(self, key: str) -> None:
        """As :meth:`files.remote_file_system.RemoteFileSystem.delete_folder`."""
        import obstore

        with _in_one_line(self._uri, key):
            for some in obstore.list(self._store, key):
                obstore.delete(self._store, [one["path"] for one in some])


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


@contextmanager
def _in_one_line(uri: str, key: str) -> Iterator[None]:
    """Raise what the library says, in several lines and by errors of its own, as an `OSError` that names the place."""
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, OSError, ValueError) as failure:
        raise _as_os_error(failure, f"{uri}/{key}") from None


def _as_os_error(failure: Exception, place: str) -> OSError:
    text = str(failure)
    code, said = _CODE.search(text), _MESSAGE.search(text)
    kind = type(failure).__name__
    why = " ".join(f"{code[1]}: {said[1]}".split()) if code and said else text.split("Debug source", 1)[0].strip()
    if _MISSING.search(text):
        return FileNotFoundError(errno.ENOENT, "there is no such bucket", place)
    if isinstance(failure, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, "there is no such file", place)
    if kind in ("PermissionDeniedError", "UnauthenticatedError"):
        return PermissionError(errno.EACCES, f"the store refuses these credentials ({why})", place)
    if _FULL.search(text):
        return OSError(errno.ENOSPC, f"the store is full ({why})", place)
    return OSError(errno.EIO, f"the store does not answer as it should ({' '.join(why.split())})", place)
