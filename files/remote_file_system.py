"""What the pipeline asks of a file system that is no disk of this machine: little enough for an object store."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class RemoteEntry(NamedTuple):
    """What stands at a name: its size if it is a file, None of a folder; and a text that changes with its content."""

    name: str
    size: int | None
    stamp: str = ""


class RemoteFileSystem(Protocol):
    """One bucket or one HDFS; keys have no slash in front. All raise `OSError` of one line where it does not answer."""

    def look(self, key: str) -> RemoteEntry | None:
        """The file of a name, or the folder; None if nothing bears it."""

    def entries(self, key: str) -> list[RemoteEntry]:
        """The files and folders in a folder, by name; none if it is not there."""

    def read(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        """Some bytes of a file, or all; raises `FileNotFoundError`."""

    def put(self, key: str, content: bytes) -> None:
        """Write a file, which replaces one of its name; nobody sees it before it is whole."""

    def create(self, key: str, content: bytes) -> bool:
        """Write a file if there is none of its name, and say whether it was; of two who try at once, one does."""

    def delete(self, key: str) -> None:
        """Delete a file, if it is there."""

    def delete_folder(self, key: str) -> None:
        """Delete all below a name."""
