"""Parquet from files that anybody may have made; those that are none, or cut, are refused in one line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from files.errors import ANOTHER, BadContentError
from files.reading import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from files.remote_path import Location

PARQUET_MAGIC: Final = b"PAR1"


def is_parquet(path: Location) -> bool:
    """Whether a file begins as one of Parquet does; raises as :func:`files.reading.open_file`."""
    with open_file(path) as file:
        return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC


@contextmanager
def parquet_file(path: Location) -> Iterator[pq.ParquetFile]:
    """Open a file of Parquet; failures while it is read become errors of this family, too.

    Raises
    ------
    UnreadableFileError
        As :func:`files.reading.open_file`.
    BadContentError
        It is no Parquet, or is cut or broken.
    """
    with open_file(path) as file:
        try:
            with pq.ParquetFile(file) as opened:
                yield opened
        except (pa.ArrowException, OSError) as failure:
            if isinstance(failure, OSError) and failure.filename is not None:
                raise
            why = next(iter(str(failure).splitlines()), "no reason given")
            message = f"{path}: not readable as Parquet ({why}): write it anew, or {ANOTHER}"
            raise BadContentError(message) from None


def read_parquet(path: Location) -> pa.Table:
    """The whole of a file; raises as :func:`parquet_file`."""
    with parquet_file(path) as file:
        return file.read()
