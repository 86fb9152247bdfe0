"""The folder of a run that is being written: its finished files, what is known of them, and the manifest at the end.

Files appear in it whole, each with a note for the manifest; so the next job goes on where one died, and makes the
missing files. A file is believed only if its SHA-256 is the one in its note. The manifest is written last, if no other
process has written one; until then nobody who reads the folder finds a run in it. None of this asks a file system for
more than that a file appears whole, and that one of two is the first of its name: it is the same on a disk, on HDFS and
in an object store.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from files.content import read_json
from files.reading import read_bytes
from files.remote_path import Location, RemotePath
from files.writing import WrittenBehind, remove_folder, remove_unfinished_files, write_whole
from spark_trace_analysis.errors import BadOptionError
from spark_trace_analysis.sole_writer import FolderClaim, claimed
from spark_trace_analysis.traces.manifest import (
    Manifest,
    ManifestFile,
    Parameters,
    other_parameter,
    parameters_of,
    write_manifest,
)

WORK = ".simulate"
"""A folder within the run's, gone when the run is complete: its writer, parameters, notes, and what is not whole."""

_OWNERS, _PARAMETERS, _NOTES, _UNFINISHED = "owners", "run.json", "notes", "unfinished"


class UnfinishedRun:
    """The folder of a run that is being written.

    Parameters
    ----------
    folder
        Absolute; Spark's workers must see it under the same path.
    claim
        That of this process to it.
    """

    def __init__(self, folder: Location, claim: FolderClaim | None = None) -> None:
        self.folder = folder
        self._claim = claim
        self._work = folder / WORK
        self._behind = WrittenBehind()

    def write(self, name: str, content: pa.Buffer, first: int, traces: int, events: int) -> ManifestFile:
        """Write one file, and its note; whoever dies in between leaves a file that is not believed, and is replaced.

        On another file system both are there once :meth:`settle` has come back.

        Raises `OSError`; what was written of the file is removed.
        """
        note = ManifestFile(name, first, traces, events, content.size, hashlib.sha256(content).hexdigest())
        for written, path in ((content, self.folder / name), (_as_json(asdict(note)), self._note_of(name))):
            self._behind.write(path, written, within=self._within)
        return note

    def settle(self) -> None:
        """Wait until all is written; raises `OSError`."""
        self._behind.settle()

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
        return sum(1 for _ in (self._work / _NOTES).iterdir())

    def remove_unfinished(self) -> None:
        """Remove the unfinished files of dead tasks."""
        remove_folder(self._work / _UNFINISHED)
        (self._work / _UNFINISHED).mkdir(exist_ok=True)

    def commit(self, manifest: Manifest) -> None:
        """Write the manifest, with which the run is there; its work folder is removed.

        Raises `BadOptionError` if another process has taken over, or was the first to write one.
        """
        if self._claim is not None:
            self._claim.require()
        if not write_manifest(self.folder, manifest):
            message = f"--out {self.folder}: another process has finished a run there; read it, or give another folder"
            raise BadOptionError(message)
        remove_work(self.folder)

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

    def _note_of(self, name: str) -> Location:
        return self._work / _NOTES / f"{name}.json"

    def _read_note(self, name: str) -> ManifestFile | None:
        note = _read_json(self._note_of(name))
        return ManifestFile(**note) if note else None

    @property
    def _within(self) -> Path | None:
        within = self._work / _UNFINISHED
        return within if isinstance(within, Path) else None

    def _put(self, content: pa.Buffer, path: Location) -> None:
        write_whole(path, content, within=self._within)


@contextmanager
def locked_run(out: Location) -> Iterator[UnfinishedRun]:
    """Give the folder in which a run is being written, new or as it was left, to one process at a time.

    Raises
    ------
    BadOptionError
        Another process writes it.
    OSError
        It can't be made.
    """
    folder = out.resolve()
    with claimed("--out", out, folder / WORK / _OWNERS) as claim:
        yield UnfinishedRun(folder, claim)


def is_unfinished(out: Location) -> bool:
    """Whether a run that is to become this folder was begun."""
    return UnfinishedRun(out).is_begun


def is_work_alone(out: Location) -> bool:
    """Whether nothing is in a folder but what says who writes there; SeaweedFS lists folders that were emptied, too."""
    return all(path.name == WORK or not path.exists() for path in out.iterdir())


def count_finished_files(out: Location) -> int:
    """How many files of a run that is to become this folder are finished; 0 if none was begun."""
    return UnfinishedRun(out).count_finished() if is_unfinished(out) else 0


def can_be_made(out: Location) -> bool:
    """Whether a run's parent folder is missing, so that nothing was begun there, and can be made."""
    if isinstance(out, RemotePath):
        return False
    nearest = next(folder for folder in out.absolute().parents if folder.exists())
    return nearest != out.absolute().parent and nearest.is_dir() and os.access(nearest, os.W_OK)


def discard(run: UnfinishedRun) -> None:
    """Remove a folder that nothing was written to."""
    remove_folder(run.folder / WORK)
    if isinstance(run.folder, Path):
        with suppress(OSError):
            run.folder.rmdir()


def remove_work(folder: Location) -> None:
    """Remove the work folder of a complete run, if its writer died before it did so."""
    remove_folder(folder / WORK)
    remove_unfinished_files(folder)


def _as_json(note: Mapping[str, Any]) -> pa.Buffer:
    return pa.py_buffer(json.dumps(note).encode())


def _read_json(path: Location) -> dict[str, Any]:
    """The content of a file; empty if it is missing or damaged."""
    try:
        note = read_json(path)
    except (FileNotFoundError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
