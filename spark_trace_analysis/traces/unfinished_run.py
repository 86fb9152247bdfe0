"""The folder of a run that is being written: its finished files, its lock, and the rename at the end.

It lies beside the run's folder as ``.NAME.partial`` and becomes it by one rename. Files appear in it by rename, each
with a note for the manifest; so the next job goes on where one died, and makes the missing files. A file is believed
only if its SHA-256 is the one in its note.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from files.content import read_json
from files.reading import read_bytes
from files.writing import write_whole
from spark_trace_analysis.errors import BadOptionError
from spark_trace_analysis.traces.manifest import ManifestFile, Parameters, other_parameter, parameters_of

WORK = ".simulate"
"""A folder within the run's, gone when the run is complete: lock, parameters, notes, and what is not whole yet."""

_LOCK, _PARAMETERS, _NOTES, _UNFINISHED = "lock", "run.json", "notes", "unfinished"


class UnfinishedRun:
    """The folder of a run that is being written.

    Parameters
    ----------
    folder
        Absolute; Spark's workers must see it under the same path.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._work = folder / WORK

    def write(self, name: str, content: pa.Buffer, first: int, traces: int, events: int) -> ManifestFile:
        """Write one file, then its note; whoever dies in between leaves a file that is not believed, and is replaced.

        Raises `OSError`; what was written of the file is removed.
        """
        note = ManifestFile(name, first, traces, events, content.size, hashlib.sha256(content).hexdigest())
        self._put(content, self.folder / name)
        self._put(_as_json(asdict(note)), self._note_of(name))
        return note

    def find(self, name: str) -> ManifestFile | None:
        """Give the note of a file, if the file is finished and still as it was written."""
        note = self._read_note(name)
        if note is None:
            return None
        try:
            content = read_bytes(self.folder / name)
        except FileNotFoundError:
            return None
        return note if hashlib.sha256(content).hexdigest() == note.sha256 else None

    def noted(self, names: Iterator[str]) -> tuple[ManifestFile, ...]:
        """Give the notes of files that are all finished."""
        found = []
        for name in names:
            note = self._read_note(name)
            if note is None:
                message = f"{self.folder / name}: was not written, though its task ended well"
                raise AssertionError(message)
            found.append(note)
        return tuple(found)

    def count_finished(self) -> int:
        """How many files are finished."""
        with os.scandir(self._work / _NOTES) as found:
            return sum(1 for _ in found)

    def remove_unfinished(self) -> None:
        """Remove the unfinished files of dead tasks."""
        shutil.rmtree(self._work / _UNFINISHED, ignore_errors=True)
        (self._work / _UNFINISHED).mkdir(exist_ok=True)

    def rename(self, out: Path) -> None:
        """Give the folder its name; its work folder is removed."""
        self.folder.replace(out)
        remove_work(out)

    @property
    def is_begun(self) -> bool:
        """Whether it says what run it is."""
        return (self._work / _PARAMETERS).is_file()

    def begin(self, parameters: Parameters, source: str) -> None:
        """Note the parameters of the run, or see, as :meth:`require_same`, that they are those of the begun one."""
        if self.is_begun:
            self.require_same(parameters, source)
        (self._work / _NOTES).mkdir(exist_ok=True)
        self.remove_unfinished()
        self._put(_as_json({"source": source, "parameters": parameters.to_json()}), self._work / _PARAMETERS)

    def require_same(self, parameters: Parameters, source: str) -> None:
        """Raise `BadOptionError` if the run that was begun is another one, or the same one by other sources."""
        begun = _read_json(self._work / _PARAMETERS)
        try:
            there, there_by = parameters_of(begun["parameters"]), begun["source"]
        except (KeyError, TypeError):
            message = f"{self.folder}: does not say what run it is the beginning of; remove that folder"
            raise BadOptionError(message) from None
        other = other_parameter(there, parameters)
        if other:
            message = (
                f"{self.folder}: holds the beginning of another run ({other}); "
                "give the command that began it, or remove that folder"
            )
            raise BadOptionError(message)
        if there_by != source:
            message = (
                f"{self.folder}: holds the beginning of a run by another version of the sources; remove that folder"
            )
            raise BadOptionError(message)

    def _note_of(self, name: str) -> Path:
        return self._work / _NOTES / f"{name}.json"

    def _read_note(self, name: str) -> ManifestFile | None:
        note = _read_json(self._note_of(name))
        return ManifestFile(**note) if note else None

    def _put(self, content: pa.Buffer, path: Path) -> None:
        write_whole(path, content, within=self._work / _UNFINISHED)


@contextmanager
def locked_run(out: Path) -> Iterator[UnfinishedRun]:
    """Give the folder in which a run is being written, new or as it was left, to one process at a time.

    Raises
    ------
    BadOptionError
        Another process writes it.
    OSError
        It can't be made.
    """
    folder = _beside(out)
    (folder / WORK).mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / WORK / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as failure:
            if failure.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                raise
            message = f"--out {out}: another process is writing it; wait for it, or give another folder"
            raise BadOptionError(message) from None
        yield UnfinishedRun(folder)
    finally:
        os.close(lock)


def is_unfinished(out: Path) -> bool:
    """Whether a run that is to become this folder was begun."""
    return UnfinishedRun(_beside(out)).is_begun


def count_finished_files(out: Path) -> int:
    """How many files of a run that is to become this folder are finished; 0 if none was begun."""
    return UnfinishedRun(_beside(out)).count_finished() if is_unfinished(out) else 0


def can_be_made(out: Path) -> bool:
    """Whether a run's parent folder is missing, so that nothing was begun there, and can be made."""
    nearest = next(folder for folder in out.absolute().parents if folder.exists())
    return nearest != out.absolute().parent and nearest.is_dir() and os.access(nearest, os.W_OK)


def _beside(out: Path) -> Path:
    return out.parent.resolve() / f".{out.name}.partial"


def discard(run: UnfinishedRun) -> None:
    """Remove a folder that nothing was written to."""
    shutil.rmtree(run.folder, ignore_errors=True)


def remove_work(folder: Path) -> None:
    """Remove the work folder of a complete run, if its writer died before it did so."""
    shutil.rmtree(folder / WORK, ignore_errors=True)


def _as_json(note: Mapping[str, Any]) -> pa.Buffer:
    return pa.py_buffer(json.dumps(note).encode())


def _read_json(path: Path) -> dict[str, Any]:
    """The content of a file; empty if it is missing or damaged."""
    try:
        note = read_json(path)
    except (FileNotFoundError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
