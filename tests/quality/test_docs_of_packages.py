"""docs/map.md is what the packages' docstrings say, and every package has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from docs import map as map_page

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, path: str, source: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(source, encoding="utf-8")


def test_the_map_is_what_the_packages_say() -> None:
    assert map_page.PAGE.read_text(encoding="utf-8") == map_page.page(), "make map writes it anew"


def test_packages_stand_in_the_order_of_their_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_page, "ROOT", tmp_path)
    written(tmp_path, "a/__init__.py", '"""Above.\n\n``x.py`` has more.\n"""\n\ndef f() -> None:\n    import b.inner\n')
    written(tmp_path, "b/__init__.py", '"""Below."""\n')
    written(tmp_path, "b/inner/__init__.py", '"""Inside."""\n\nfrom os import path\n')
    assert map_page.imports() == {"a": {"b"}, "b": set()}
    page = map_page.page()
    assert "| [`b/`](#b) | Below. | – |\n| [`a/`](#a) | Above. | `b` |\n" in page
    assert page.endswith(
        "## [`b/`](../b)\n\nBelow.\n\n### [`b/inner/`](../b/inner)\n\nInside.\n\n"
        "## [`a/`](../a)\n\nAbove.\n\n`x.py` has more.\n"
    )


@pytest.mark.parametrize("path", ["a/b/c.py", "a/b/__init__.py"])
def test_a_package_without_a_docstring_is_named(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_page, "ROOT", tmp_path)
    written(tmp_path, "a/__init__.py", '"""Said."""\n')
    written(tmp_path, path, "x = 1\n")
    with pytest.raises(map_page.NoDocstringError, match=r"^a/b/__init__\.py: no docstring"):
        map_page.packages()
