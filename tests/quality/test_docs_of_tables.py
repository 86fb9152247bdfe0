"""docs/tables.md is what the schemas and docs/tables.toml say."""

from __future__ import annotations

import re

from docs.tables import PAGE, page
from spark_trace_analysis.every_table import ALL


def test_the_page_is_what_the_schemas_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make tables writes it anew"


def test_each_column_stands_under_its_table() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## )", page(), re.DOTALL | re.MULTILINE))
    shown = {
        table.name: tuple(re.findall(r"^\| (\w+) \| (?!type)", sections[table.name], re.MULTILINE)) for table in ALL
    }
    assert shown == {table.name: (*(one.name for one in table.folders), *table.names) for table in ALL}
