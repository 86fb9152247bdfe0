"""A table that others may query, declared as data: its columns, key, order and version.

Columns are only added to a table, at its end, with the version that brought them; none is removed, renamed, or changes
its type or meaning. So a query that was written for one version answers over files of every later one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

WORD: Final = pa.dictionary(pa.int16(), pa.string())
"""Of few different values: a string to SQL, Polars and Spark, a Categorical to pandas."""

NAME_KEY, VERSION_KEY = b"halfcheck.table", b"halfcheck.table_version"
"""The keys of a Parquet file's metadata that say of which table, in which version, it holds rows."""


@dataclass(frozen=True)
class TableColumn:
    """One column.

    Attributes
    ----------
    unit
        The unit of a number; empty where it counts, names or places something.
    values
        The words that it may hold; empty where they are not a closed set.
    since
        The version of the table that brought it.
    """

    name: str
    type: pa.DataType
    meaning: str
    unit: str = ""
    nullable: bool = False
    values: tuple[str, ...] = ()
    since: int = 1


@dataclass(frozen=True)
class DocumentedTable:
    """One table.

    Attributes
    ----------
    what
        One row of it, in words.
    files
        The command that writes it, and where its files lie.
    key
        Columns that together name a row; the folders' columns among them.
    order
        Columns by which the rows of a file are sorted, so that statistics of row groups let a reader skip.
    folders
        Columns that stand in the names of folders (``profile=5.3.3``) and in no file.
    """

    name: str
    version: int
    what: str
    files: str
    columns: tuple[TableColumn, ...]
    key: tuple[str, ...]
    order: tuple[str, ...] = ()
    folders: tuple[TableColumn, ...] = ()
    joins: str = field(default="")

    @property
    def schema(self) -> pa.Schema:
        """The schema of its files; the metadata names the table and its version."""
        fields = [pa.field(column.name, column.type, nullable=column.nullable) for column in self.columns]
        return pa.schema(fields, {NAME_KEY: self.name.encode(), VERSION_KEY: str(self.version).encode()})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns in its files."""
        return tuple(column.name for column in self.columns)

    def batch(self, columns: Mapping[str, Any]) -> pa.RecordBatch:
        """Some rows, of a value a row and column."""
        return pa.RecordBatch.from_arrays(
            [_as(columns[column.name], column.type) for column in self.columns], schema=self.schema
        )

    def folder(self, **values: str) -> str:
        """The folders in which rows of some values of its folder columns lie, below the table's own.

        Examples
        --------
        >>> DocumentedTable("t", 1, "", "", (), (), folders=(TableColumn("run", WORD, ""),)).folder(run="a/b=1")
        'run=a%2Fb%3D1'
        """
        return "/".join(f"{column.name}={quote(values[column.name], safe=_PLAIN)}" for column in self.folders)


_PLAIN: Final = "+,.()- "
"""Besides letters and digits, what stands in the name of a folder as it is; all engines read the rest as %XX."""


def _as(values: Iterable[Any], kind: pa.DataType) -> pa.Array:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    return array if array.type == kind else array.cast(kind)
