"""HDFS through `hdfs-native`, a client without Java: no worker starts a JVM, and no ``libhdfs.so`` is looked for.

A file of HDFS is seen while it is written. So it is written under a name of its own, closed, and renamed, which the
NameNode does in one step: over another file, or only if there is none. ``HADOOP_CONF_DIR`` says what ``hdfs://`` is.
"""

from __future__ import annotations

import errno
import secrets
import socket
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final

from files.remote_file_system import RemoteEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hdfs_native import Client, FileStatus

_FULL: Final = ("could only be written to 0 of", "could only be replicated to", "QuotaExceeded", "out of space")
_NO_DATANODE: Final = ("There are 0 datanode(s) running", "node(s) are excluded")

_CONNECT_S: Final = 10.0
ATTEMPTS: Final = 8
"""So often is a NameNode asked again that does not listen, after 0.5 s at first, then twice as long, up to 15 s."""

UNFINISHED: Final = ".unfinished"
"""A folder within that of a file, for what is being written; its name is passed over by who reads a folder."""


class Hdfs:
    """A :class:`files.remote_file_system.RemoteFileSystem` of one NameNode or name service, or of the default one."""

    def __init__(self, authority: str) -> None:
        self._authority = authority

    @cached_property
    def _client(self) -> Client:
        from hdfs_native import Client

        host, _, port = self._authority.rpartition(":")
        if host and port.isdigit():  # the library tries for minutes where nobody listens
            socket.create_connection((host, int(port)), _CONNECT_S).close()
        config = {"dfs.client.failover.max.attempts": str(ATTEMPTS)}
        return Client(f"hdfs://{self._authority}" if self._authority else None, config)

    def look(self, key: str) -> RemoteEntry | None:
        """As :meth:`files.remote_file_system.RemoteFileSystem.look`."""
        with self._in_one_line(key):
            try:
                return _entry(self._client.get_file_info(f"/{key}"))
            except FileNotFoundError:
                return None

    def entries(self, key: str) -> list[RemoteEntry]:
        """As :meth:`files.remote_file_system.RemoteFileSystem.entries`; what is being written is left out."""
        with self._in_one_line(key):
            try:
                found = [_entry(one) for one in self._client.list_status(f"/{key}")]
            except FileNotFoundError:
                return []
        return sorted(one for one in found if one.name != UNFINISHED)

    def read(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        """As :meth:`files.remote_file_system.RemoteFileSystem.read`."""
        with self._in_one_line(key), self._client.read(f"/{key}") as file:
            content: bytes = file.read_range(start, (len(file) if end is None else end) - start)
        return content

    def put(self, key: str, content: bytes) -> None:
        """As :meth:`files.remote_file_system.RemoteFileSystem.put`."""
        with self._in_one_line(key):
            self._write_and_rename(key, content, overwrite=True)

    def create(self, key: str, content: bytes) -> bool:
        """As :meth:`files.remote_file_system.RemoteFileSystem.create`."""
        with self._in_one_line(key):
            try:
                self._write_and_rename(key, content, overwrite=False)
            except FileExistsError:
                return False
        return True

    def _write_and_rename(self, key: str, content: bytes, *, overwrite: bool) -> None:
        folder, _, name = f"/{key}".rpartition("/")
        unfinished = f"{folder}/{UNFINISHED}/{name}.{secrets.token_hex(8)}"
        try:
            with self._client.create(unfinished) as file:
                file.write(content)
            self._client.rename(unfinished, f"/{key}", overwrite)
        except BaseException:
            with suppress(OSError):
                self._client.delete(unfinished)
            raise

    def delete(self, key: str) -> None:
        """As :meth:`files.remote_file_system.RemoteFileSystem.delete`."""
        with self._in_one_line(key), suppress(FileNotFoundError):
            self._client.delete(f"/{key}")

    def delete_folder(self, key: str) -> None:
        """As :meth:`files.remote_file_system.RemoteFileSystem.delete_folder`."""
        with self._in_one_line(key), suppress(FileNotFoundError):
            self._client.delete(f"/{key}", recursive=True)

    @contextmanager
    def _in_one_line(self, key: str) -> Iterator[None]:
        place = f"hdfs://{self._authority}/{key}"
        try:
            yield
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, "there is no such file", place) from None
        except PermissionError as failure:
            raise PermissionError(errno.EACCES, f"HDFS refuses it ({_first_line(failure)})", place) from None
        except (OSError, RuntimeError, ValueError) as failure:
            text = str(failure)
            if any(sign in text for sign in _FULL) and not any(sign in text for sign in _NO_DATANODE):
                raise OSError(errno.ENOSPC, f"HDFS has no room ({_first_line(failure)})", place) from None
            why = f"HDFS does not answer as it should ({_first_line(failure)})"
            raise OSError(errno.EIO, why, place) from None


def _first_line(failure: Exception) -> str:
    """Of the message, without the server's stack trace, which the library quotes in it."""
    message, _, _ = str(failure).partition(r"\n\tat ")
    return next(iter(message.splitlines()), type(failure).__name__).strip()


def _entry(status: FileStatus) -> RemoteEntry:
    size = None if status.isdir else status.length
    return RemoteEntry(status.path.rstrip("/").rpartition("/")[2], size, str(status.modification_time))
