"""Switches, what they break and mend, and faults, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.parts import List, Paragraph, Part, Tone, tabulated
from document.words import counted
from model_check.clauses import name_of
from model_check.defects.catalogue import catalogue
from model_check.defects.switch_effects import ClauseEffect, SwitchEffects, on_record, unshown_claims
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from model_check.switches import SwitchRecord


def list_of_switches(records: Sequence[SwitchRecord]) -> Iterator[Part]:
    """A row a switch."""
    rows = [(one.name, one.kind, _where(one), one.says) for one in records]
    yield tabulated("switch", "kind", "~on in", "~what is so where it is on", rows=rows)
    yield Paragraph(f"{len(records)} switches; halfcheck switches NAME says what one models, needs, breaks and mends")


def list_of_faults(in_words: Mapping[str, str]) -> Iterator[Part]:
    """A row a fault."""
    yield tabulated("fault", "~what may go wrong", rows=in_words.items())
    count = counted(len(in_words), "fault")
    yield Paragraph(f"{count}; --faults crash,lose_end takes some, nothing is the quiet world")


def _where(record: SwitchRecord) -> str:
    return "all" if len(record.profiles) == len(PROFILES) else ", ".join(map(str, record.profiles)) or "none"


def facts_of(record: SwitchRecord) -> Iterator[Part]:
    """The facts of a switch that need no search."""
    yield Paragraph(f"{record.name}, a {record.kind} switch: {record.says}", Tone.TITLE)
    yield Paragraph(f"on in: {_where(record)}")
    if record.needs:
        yield Paragraph(f"needs: {', '.join(record.needs)}")
    recorded = on_record(record.name)
    names = dict.fromkeys((*record.defects, *(one.name for one in recorded if one.mends)))
    for name in names:
        yield Paragraph(f"{name}: {catalogue()[name].name}")
        shown = [
            f"{one.where}: {one.depth} steps; in {one.search.repaired_in}: {one.absence}"
            for one in recorded
            if one.name == name
        ]
        unshown = ["so its entry says; no search on record shows it"] * (name in unshown_claims(record.name))
        yield List((*shown, *unshown))
    for one in (one for one in recorded if not one.mends):
        yield Paragraph(f"as a wrong repair, {one.name}: {one.says}")
        yield List((f"{one.where}: {one.depth} steps",))
    if record.java:
        yield Paragraph(f"models: {', '.join(record.java)}")
    yield Paragraph(f"read by: {', '.join(reader.function for reader in record.readers)}")


def effects(found: SwitchEffects) -> Iterator[Part]:
    """The clauses that a switch breaks and mends."""
    if not found.releases:
        yield Paragraph("searched nowhere: no release has what it needs")
        return
    releases = ", ".join(map(str, found.releases))
    where = f"searched on {found.instance.name} in {releases}, in the quiet world and with each fault alone"
    rows = []
    for change, tone in (("breaks", Tone.BAD), ("mends", Tone.GOOD)):
        changed = [one for one in found.effects if one.change == change]
        rows += [
            (Paragraph(change, tone), name_of(clause), _places([one for one in changed if one.clause == clause]))
            for clause in dict.fromkeys(one.clause for one in changed)
        ]
    yield Paragraph(f"{where}{', without it and with it:' if rows else ': it breaks and mends nothing'}")
    if rows:
        yield tabulated("", "clause", "~where", rows=rows)
    for profiles in dict.fromkeys(found.still_broken.values()):
        clauses = [name_of(clause) for clause, where in found.still_broken.items() if where == profiles]
        ask = f"halfcheck repairs --profile {profiles[-1]} --property {clauses[0]}"
        broken = f"broken with it as well in {', '.join(map(str, profiles))}: {', '.join(clauses)}"
        yield Paragraph(f"{broken}; {ask} says what else it takes")
    moved = dict.fromkeys(name_of(one.clause) for one in found.effects if one.change in ("sooner", "later"))
    if moved:
        yield Paragraph(f"it takes more or fewer steps to break {', '.join(moved)}")
    if found.cut_short:
        yield Paragraph(f"CUT SHORT, and not counted: {', '.join(map(str, found.cut_short))}", Tone.WARNING)


def _places(effects: Sequence[ClauseEffect]) -> str:
    """Releases with the same environments together: `4.5.1, 4.9.7: quiet (16 steps)`."""
    by_release: dict[str, list[str]] = {}
    for one in effects:
        steps = one.without if one.with_it is None else one.with_it
        by_release.setdefault(one.release.name, []).append(f"{one.environment.name} ({steps} steps)")
    together: dict[str, list[str]] = {}
    for release, environments in by_release.items():
        together.setdefault(", ".join(environments), []).append(release)
    return "; ".join(f"{', '.join(releases)}: {environments}" for environments, releases in together.items())
