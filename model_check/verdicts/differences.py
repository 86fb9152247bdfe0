"""Where a table of verdicts says other than the searches, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.check import Verdict
from model_check.verdicts.environment import faults_of
from model_check.verdicts.table import by_size
from model_check.wording.clauses import clause_names

if TYPE_CHECKING:
    from model_check.verdicts.table import Entries, Entry


def differences(profile: str, instance: str, table: Entries, searched: Entries) -> list[str]:
    """What the table says and the searches do not, a line each."""
    lines = []
    for name in sorted(table.keys() | searched.keys(), key=lambda name: by_size(faults_of(name))):
        where = f"{profile} {instance} {name}"
        if name not in searched:
            lines.append(f"{where}: the table has an entry, but the search finds nothing new in this environment")
        elif name not in table:
            news = ", ".join(f"{clause} at depth {depth}" for clause, depth in searched[name].violated.items())
            lines.append(
                f"{where}: the table has no entry, but the search finds violations: {news or 'none, cut short'}"
            )
        else:
            lines += [f"{where}: {line}" for line in differing(table[name], searched[name])]
    return lines


def differing(table: Entry, searched: Entry) -> list[str]:
    """Where one entry says other than the search of its environment."""
    lines = []
    for clause in clause_names():
        said, found = (_verdict_in_words(entry, clause) for entry in (table, searched))
        if said != found:
            lines.append(f"{clause} {said} in the table, and {found} in the search")
    numbers = [(name, getattr(table, name), getattr(searched, name)) for name in ("distinct", "generated", "depth")]
    lines += [f"{name} is {a:,} in the table, and {b:,} in the search" for name, a, b in numbers if a != b]
    if table.is_idle != searched.is_idle:
        lines.append(f"the fault is {'' if table.is_idle else 'not '}idle in the table only")
    return lines


def _verdict_in_words(entry: Entry, clause: str) -> str:
    verdict = entry.verdict(clause)
    if verdict is Verdict.VIOLATED:
        return f"is violated at depth {entry.violated[clause]}"
    return "holds" if verdict is Verdict.HOLDS else "is unknown"
