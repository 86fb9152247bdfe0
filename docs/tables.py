"""The page docs/tables.md: the tables that others may query, out of their schemas, and questions with their answers.

`make tables` writes it, out of `spark_trace_analysis/tables/` and `docs/tables.toml`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from files.content import read_toml
from spark_trace_analysis.every_table import ALL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spark_trace_analysis.tables.table import DocumentedTable, TableColumn

PAGE: Final = Path(__file__).with_suffix(".md")
QUESTIONS: Final = Path(__file__).with_suffix(".toml")

_HEAD: Final = """\
# Tables

Traces, verdicts and audits as Parquet that any engine may query. Written by `make tables`, out of
[the schemas](../spark_trace_analysis/every_table.py) and [the questions](tables.toml); a test runs the questions in all
engines.

```sh
halfcheck simulate --traces 300 --profile 5.3.3 --faults crash --runs build/runs
halfcheck simulate --traces 300 --profile 4.9.7 --faults crash --runs build/runs
halfcheck analyze build/runs --out build/analysis
halfcheck audit STORE_DIR --out build/rows --findings build/findings.parquet
```

"""

_RULES: Final = """\
## What may be relied on

- **Versions.** Columns are only added, at the end of a table, with a new version of it; none is removed or renamed,
  and none changes its type or meaning. `halfcheck.table` and `halfcheck.table_version` in a file's key-value metadata
  say what it holds. A test holds this against [a list](../tests/spark_trace_analysis/tables/columns.toml) of the
  columns of every version.
- **Types** are Parquet's. A *word* is a string that Parquet keeps as a dictionary: SQL and Spark see a string, Polars
  and pandas a categorical. Only a column that says so holds NULLs.
- **Folders.** `profile=P` and `run=R` are columns in the names of folders, as Hive has them, so that one version or
  one run is read without the others; what is no letter, digit or one of `+,.()-` and the blank stands there as `%XX`.
  A file that begins with `_` or `.` is no data: Spark, pandas and DuckDB pass over `_manifest.json`, Polars does with
  `hidden_file_prefix`. Polars takes 5.3.3 for a date without `try_parse_hive_dates=False`.
- **Order.** Files are sorted as the table says, and row groups have statistics of these columns, so that a question
  for one trace or one property skips the other row groups. A test counts the bytes that each engine reads.
- **Whole or not at all.** A folder appears when all is written; `_manifest.json` in it names its files.

Both ways of reading a run are the same: `--out DIR` writes one run into `DIR`, and `DIR` alone is a table `events`
without the two folders; `--runs DIR` gives each run a folder of its own in one table. In `verdicts`, `run` is the
name of that folder. Runs of older versions, with `manifest.json`, are analyzed as ever; as their folder is no table,
read `DIR/*.parquet`.
"""

_ENGINES: Final = (
    ("spark", "Spark", "python"),
    ("duckdb", "DuckDB", "python"),
    ("polars", "Polars", "python"),
    ("pandas", "pandas", "python"),
)


def page() -> str:
    """The page's text."""
    asked = read_toml(QUESTIONS)
    parts = [_HEAD + "\n".join(_overview()), *map(_table, ALL), _RULES, "\n".join(_opened(asked["open"]))]
    parts.append("## Ten questions\n\nThe SQL is Spark's and DuckDB's alike, but where both are shown.\n")
    parts += ["\n".join(_question(number, each)) for number, each in enumerate(asked["question"], start=1)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _overview() -> Iterator[str]:
    yield "| table | version | a row is | key |"
    yield "|---|--:|---|---|"
    for table in ALL:
        yield f"| [{table.name}](#{table.name}) | {table.version} | {table.what} | {', '.join(table.key)} |"
    yield ""


def _table(table: DocumentedTable) -> str:
    order = f" Sorted by {', '.join(table.order)}." if table.order else ""
    lines = [
        f"## {table.name}",
        "",
        f"A row is {table.what}. {table.files}.{order} {table.joins}".rstrip(),
        "",
        "| column | type | unit | NULL | since | meaning |",
        "|---|---|---|---|--:|---|",
        *(_row(column, "folder") for column in table.folders),
        *(_row(column, type_of(column.type)) for column in table.columns),
        "",
    ]
    return "\n".join(lines)


def _row(column: TableColumn, kind: str) -> str:
    values = f": {', '.join(f'`{value}`' for value in column.values)}" if column.values else ""
    is_null = "yes" if column.nullable else "–"
    return f"| {column.name} | {kind} | {column.unit or '–'} | {is_null} | {column.since} | {column.meaning}{values} |"


def type_of(kind: pa.DataType) -> str:
    """The name of a type for readers of any engine.

    Examples
    --------
    >>> type_of(pa.dictionary(pa.int8(), pa.string())), type_of(pa.list_(pa.int64()))
    ('word', 'list of int64')
    """
    if pa.types.is_dictionary(kind):
        return "word"
    if pa.types.is_list(kind):
        return f"list of {type_of(kind.value_type)}"
    if pa.types.is_struct(kind):
        return f"({', '.join(f'{field.name} {type_of(field.type)}' for field in kind)})"
    return "timestamp" if pa.types.is_timestamp(kind) else str(kind)


def _opened(opened: dict[str, str]) -> Iterator[str]:
    yield "## Opening them\n"
    for engine, name, language in _ENGINES:
        yield f"{name}:\n"
        yield from _code(language, opened[engine])


def _question(number: int, question: dict[str, Any]) -> Iterator[str]:
    yield f"### {number}. {question['title']}\n"
    yield from _code("sql", question["sql"])
    if "duckdb" in question:
        yield "DuckDB:\n"
        yield from _code("sql", question["duckdb"])
    for engine, name, language in _ENGINES[2:]:
        yield f"{name}:\n"
        yield from _code(language, question[engine])


def _code(language: str, text: str) -> Iterator[str]:
    yield f"```{language}\n{text.strip()}\n```\n"


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
