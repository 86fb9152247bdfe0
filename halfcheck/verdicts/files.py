"""The files of the table of verdicts: where they are, how they are written, and what is wrong in them."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from files.reading import read_text
from files.writing import write_whole
from model_check.clauses import name_of
from model_check.verdicts.counterexamples import (
    MinimalCounterexample,
    counterexamples_as_toml,
    read_counterexamples,
)
from model_check.verdicts.implications import Implication, is_shown, read_implications, refuted
from model_check.verdicts.page import MAP, page_of
from model_check.verdicts.table import TableOfVerdicts, read_table, table_as_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.verdicts.regeneration import Regenerated
    from model_check.world import Profile


class VerdictFiles:
    """The tables of `model_check/verdicts/results/`, the page docs/generated/verdicts.md and its map.

    They are below a folder, or this program's own. Where it was installed, there is no page, and nothing is to be
    written.
    """

    def __init__(self, folder: Path | None = None) -> None:
        above = folder or Path(str(resources.files("spec"))).parent
        self.is_installed = folder is None and not (above / "pyproject.toml").is_file()
        results = above / "model_check" / "verdicts" / "results"
        self.verdicts = results / "verdicts.toml"
        self.schedules = results / "schedules.toml"
        self._implications = results / "implications.toml"
        self.page = above / "docs" / "generated" / "verdicts.md"
        self.map = self.page.with_name(MAP)

    def table(self) -> TableOfVerdicts:
        """The table of verdicts; raises `BadFile`."""
        return read_table(self.verdicts)

    def implications(self) -> tuple[Implication, ...]:
        """The declared implications; raises `BadFile`."""
        return read_implications(self._implications)

    def refuted(self, table: TableOfVerdicts) -> list[str]:
        """The declared implications that a table refutes, or says nothing of, a line each."""
        lines = []
        for one in self.implications():
            violated = name_of(one.violated)
            name = f"the implication from {violated} to {name_of(one.implied)}"
            wrong = list(refuted(one, table))
            if wrong:
                more = f" (and {len(wrong) - 1:,} more)" if len(wrong) > 1 else ""
                lines.append(f"{name} is wrong: {wrong[0]}{more}")
            if not is_shown(one, table):
                lines.append(f"{name} is empty: no environment that was searched violates {violated}")
        return lines

    def write(self, made: Regenerated) -> None:
        """Write everything anew."""
        from halfcheck.verdicts.drawing import draw

        table, schedules = made.whole, made.schedules
        for file, text in (
            (self.verdicts, table_as_toml(table)),
            (self.schedules, counterexamples_as_toml(schedules, table.specification)),
            (self.page, page_of(table, schedules, self.implications())),
            (self.map, draw(table)),
        ):
            write_whole(file, text)

    def differences(self, made: Regenerated) -> list[str]:
        """Where the schedules and the page are not what the searches and the table give, a line each."""
        table, schedules = self.table(), made.schedules
        there, specification = read_counterexamples(self.schedules)
        lines = [
            f"{self.schedules}: {which}: {name_of(one.clause)} with {', '.join(one.environment) or 'no fault'} in "
            f"{', '.join(map(str, one.profiles))}: {one.steps}"
            for which, some, others in (("not found by the search", there, schedules), ("missing", schedules, there))
            for one in some
            if one not in others
        ]
        if specification != table.specification:
            lines.append(f"{self.schedules}: is of another specification than the table of verdicts")
        if self.is_installed:
            return lines
        if not self.page.exists() or read_text(self.page) != self.page_text():
            lines.append(f"{self.page}: is not what the table and the schedules give")
        return lines

    def page_text(self) -> str:
        """The page as the files give it."""
        return page_of(self.table(), read_counterexamples(self.schedules)[0], self.implications())

    def all_counterexamples(self) -> Sequence[MinimalCounterexample]:
        """All that the table has; none where there is no file."""
        return read_counterexamples(self.schedules)[0] if self.schedules.exists() else ()

    def counterexamples(self, profile: Profile) -> list[MinimalCounterexample]:
        """All that the table has for a profile."""
        return [one for one in self.all_counterexamples() if profile in one.profiles]
