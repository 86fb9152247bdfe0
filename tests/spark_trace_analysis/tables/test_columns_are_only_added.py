"""Columns are only added to a table: those of every version are there, in their order, with their types."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from spark_trace_analysis.every_table import ALL
from spark_trace_analysis.tables.table import NAME_KEY, VERSION_KEY, DocumentedTable, TableColumn

EARLIER: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_name("columns.toml").read_text())
BY_NAME = {table.name: table for table in ALL}


def signature(column: TableColumn) -> str:
    return f"{column.name} {column.type}{' NULL' if column.nullable else ''}"


def broken_promises(table: DocumentedTable, earlier: dict[str, list[str]]) -> list[str]:
    """What readers of earlier versions would miss."""
    listed = [(int(version), column) for version, columns in earlier.items() for column in columns]
    found = [(column.since, signature(column)) for column in table.columns]
    promises = [f"{column} of version {version}" for version, column in listed if (version, column) not in found]
    if not promises and found[: len(listed)] != listed:
        promises = ["their order"]
    unlisted = [column for column in found if column not in listed]
    return promises + [f"{column} of version {version} is not listed" for version, column in unlisted]


@pytest.mark.parametrize("table", ALL, ids=BY_NAME)
def test_what_earlier_versions_had_is_there(table: DocumentedTable) -> None:
    assert broken_promises(table, EARLIER[table.name]) == []
    assert table.version == max(column.since for column in table.columns)


def test_a_column_that_is_removed_renamed_or_changed_is_noticed() -> None:
    table, earlier = BY_NAME["verdicts"], EARLIER["verdicts"]
    first, second, *others = table.columns
    broken = {
        "removed": (second, *others),
        "renamed": (replace(first, name="guarantee"), second, *others),
        "retyped": (first, replace(second, type=pa.int32()), *others),
        "nullable": (first, replace(second, nullable=True), *others),
        "moved": (second, first, *others),
        "unlisted": (first, second, *others, TableColumn("clause", pa.string(), "", since=2)),
    }
    found = {name: broken_promises(replace(table, columns=columns), earlier) for name, columns in broken.items()}
    assert found == {
        "removed": ["property dictionary<values=string, indices=int16, ordered=0> of version 1"],
        "renamed": [
            "property dictionary<values=string, indices=int16, ordered=0> of version 1",
            "guarantee dictionary<values=string, indices=int16, ordered=0> of version 1 is not listed",
        ],
        "retyped": ["trace int64 of version 1", "trace int32 of version 1 is not listed"],
        "nullable": ["trace int64 of version 1", "trace int64 NULL of version 1 is not listed"],
        "moved": ["their order"],
        "unlisted": ["clause string of version 2 is not listed"],
    }


@pytest.mark.parametrize("table", ALL, ids=BY_NAME)
def test_keys_and_order_are_columns_and_the_metadata_says_which_table_it_is(table: DocumentedTable) -> None:
    known = {*table.names, *(column.name for column in table.folders)}
    assert {*table.key, *table.order} <= known
    assert not any(column.nullable for column in table.columns if column.name in table.key)
    assert table.schema.metadata == {NAME_KEY: table.name.encode(), VERSION_KEY: str(table.version).encode()}
