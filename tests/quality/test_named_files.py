"""Every file that a page, a docstring or a comment names is there; every link of a page leads somewhere."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = (
    "benchmarks",
    "conformance",
    "document",
    "files",
    "fuzz",
    "halfcheck",
    "model_check",
    "real_brokers",
    "reference",
    "setup",
    "html_report",
    "spark_trace_analysis",
    "spec",
    "traffic",
    "wire",
)
NOT_OURS: Final = {".git", ".venv", "build", "report"}

WORD: Final = re.compile(r"[\w./@:~*<>{}-]+\(?")
NAME: Final = re.compile(r"(?:[\w-]+/)*[\w-]+\.(?:py|md|toml)")
LINK: Final = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
HEADING: Final = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
FENCED: Final = re.compile(r"^( *)```.*?^ *```$", re.MULTILINE | re.DOTALL)

STANDS_FOR_ANOTHER: Final = {
    "broker.toml": "what rocketmq-rust has for broker.conf",
    "halfcheck/commands/beside.py": "a command that somebody adds",
    "model_check/counting.py": "an engine that somebody adds",
    "installed.toml": "written by the setup into what it installs",
    "mine.toml": "an instance of the reader's own",
    "shop.toml": "a workload of the reader's own",
    "pylock.toml": "a standard's name for a lock file",
    "test_lockstep_mismatch.py": "written by a lockstep run",
    "verdict.md": "written by halfcheck judge-jar",
}


def files() -> set[str]:
    """The project's files by their path, and by each end of it that begins behind a slash."""
    found = set()
    for folder, folders, names in os.walk(ROOT):
        parts = Path(folder).relative_to(ROOT).parts
        folders[:] = [name for name in folders if name != "__pycache__" and (parts or name not in NOT_OURS)]
        for name in names:
            found |= {"/".join((*parts[at:], name)) for at in range(len(parts) + 1)}
    return found


def pages() -> list[Path]:
    inside = (page for folder in ("docs", "tests", *PACKAGES) for page in (ROOT / folder).rglob("*.md"))
    return sorted([*ROOT.glob("*.md"), *inside])


def named_but_missing(text: str, there: set[str]) -> list[str]:
    names = (word.rstrip(".:") for word in WORD.findall(text))
    return [name for name in names if NAME.fullmatch(name) and name not in there and name not in STANDS_FOR_ANOTHER]


def test_every_file_that_is_named_is_there() -> None:
    there = files()
    sources = [source for folder in PACKAGES for source in (ROOT / folder).rglob("*.py")]
    assert len(pages()) > 20
    missing = {
        str(path.relative_to(ROOT)): names
        for path in [*pages(), *sources]
        if (names := named_but_missing(path.read_text(encoding="utf-8"), there))
    }
    assert missing == {}


@cache
def anchors(text: str) -> set[str]:
    """The names under which GitHub links to the headings of a page; one that comes again gets a number."""
    found: list[str] = []
    for heading in HEADING.findall(FENCED.sub("", text)):
        shown = LINK.sub("]", heading).lower()
        name = re.sub(r"[^\w -]", "", shown).replace(" ", "-")
        times = sum(one == name or re.fullmatch(rf"{re.escape(name)}-\d+", one) is not None for one in found)
        found.append(f"{name}-{times}" if times else name)
    return {*found, *re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text)}


def broken_links(page: Path) -> list[str]:
    """The links of a page to a file or a heading that is not there."""
    broken = []
    for target, anchor in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        there = page.parent / target if target else page
        is_page = there.suffix == ".md" and there.exists()
        if not there.exists() or (anchor and is_page and anchor not in anchors(there.read_text(encoding="utf-8"))):
            broken.append(f"{target}#{anchor}" if anchor else target)
    return broken


def test_every_link_of_a_page_leads_to_a_file_and_a_heading() -> None:
    broken = {str(page.relative_to(ROOT)): found for page in pages() if (found := broken_links(page))}
    assert broken == {}


def test_a_link_to_no_file_and_one_to_no_heading_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A `b.c` of (d), twice\n\n## Same\n\n## Same\n")
    links = ("other.md#a-bc-of-d-twice", "other.md#same-1", "other.md#same-2", "none.md", "#here", "#there")
    page = tmp_path / "page.md"
    page.write_text("# Here\n\n" + " ".join(f"[it]({link})" for link in links) + "\n```\n[no](link.md)\n```\n")
    assert broken_links(page) == ["other.md#same-2", "none.md", "#there"]


def test_a_name_that_is_an_exception_is_still_named_somewhere_and_is_no_file() -> None:
    sources = [source for folder in PACKAGES for source in (ROOT / folder).rglob("*.py")]
    texts = "".join(path.read_text(encoding="utf-8") for path in [*pages(), *sources])
    assert {name for name in STANDS_FOR_ANOTHER if name not in texts} == set()
    assert not files() & set(STANDS_FOR_ANOTHER)


def test_a_file_that_is_not_there_is_found() -> None:
    text = "as `DEFECTS.md` says, in spec/state.py and spec/no_state.py; `state.py` and a.py() are none of it"
    assert named_but_missing(text, {"spec/state.py", "state.py"}) == ["DEFECTS.md", "spec/no_state.py"]
