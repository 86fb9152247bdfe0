from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from model_check.clauses import clause_names, clauses_by_name
from model_check.errors import BadFile
from model_check.finding import Verdict
from model_check.fingerprint import specification_fingerprint
from model_check.instances import load_instance
from model_check.verdicts.implications import Implication, implied_by, is_shown, read_implications, refuted, suggested
from model_check.verdicts.regeneration import differing
from model_check.verdicts.table import Entry, Minimal, SearchPlan, TableOfVerdicts, read_table, table_as_toml
from model_check.world import NO_FAULTS as QUIET
from model_check.world import Environment, Profile, World
from spec.constants import FAULTS
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

NAMES = clause_names()[:3]
A, B, C, *_ = CLAUSES = tuple(clauses_by_name().values())
PROFILE, OTHER = Profile.of("5.3.3"), Profile.of("4.5.1")
TINY, SMALL = load_instance("tiny"), load_instance("small")
LOSE_END, SLOW_ROUND, CRASH = (Environment([fault]) for fault in ("lose_end", "slow_round", "crash"))
BOTH = Environment.of(["slow_round", "crash"])
ENTRIES = {
    QUIET: Entry(10, 20, 3, {A: 3}),
    LOSE_END: Entry(10, 20, 3, {A: 3}, is_idle=True),
    SLOW_ROUND: Entry(12, 20, 3, {A: 2}, (B, C)),
    CRASH: Entry(30, 60, 5, {A: 3, B: 4}),
    BOTH: Entry(40, 80, 6, {A: 2, B: 5, C: 6}),
}
TABLE = TableOfVerdicts(
    specification_fingerprint(),
    tuple(PROFILES),
    FAULTS,
    clause_names(),
    {"tiny": SearchPlan(2, 1_000), "small": SearchPlan(1, 50)},
    {"5.3.3": {"tiny": ENTRIES}},
)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.toml"
    file.write_text(table_as_toml(TABLE))
    assert read_table(file) == TABLE
    assert TABLE.stale() == []


def test_an_instance_of_some_worlds_only_breaks_what_it_breaks(tmp_path: Path) -> None:
    plan = {**TABLE.plan, "tiny@2x3x3": SearchPlan(2, 1_000, ("5.3.3 slow_round,crash",))}
    there = load_instance("tiny@2x3x3")
    table = replace(
        TABLE, plan=plan, entries={"5.3.3": {"tiny": ENTRIES, "tiny@2x3x3": {BOTH: Entry(9, 9, 9, {C: 5})}}}
    )
    assert plan["tiny@2x3x3"].worlds(there) == (World(PROFILE, BOTH, there),)
    assert there not in table.instances
    assert table.minimal_sets(PROFILE, C) == [Minimal(BOTH, 5, there)]
    file = tmp_path / "verdicts.toml"
    file.write_text(table_as_toml(table))
    assert read_table(file) == table


def test_a_verdict_is_violated_unknown_or_holds() -> None:
    assert ENTRIES[SLOW_ROUND].verdict(A) is Verdict.VIOLATED
    assert ENTRIES[SLOW_ROUND].verdict(B) is Verdict.UNKNOWN
    assert ENTRIES[QUIET].verdict(B) is Verdict.HOLDS


def test_minimal_and_undecided_sets_come_from_the_entries() -> None:
    assert TABLE.minimal_sets(PROFILE, A) == [Minimal(QUIET, 3, TINY)]
    assert TABLE.minimal_sets(PROFILE, B) == [Minimal(CRASH, 4, TINY)]
    assert TABLE.minimal_sets(PROFILE, C) == [Minimal(BOTH, 6, TINY)]
    assert TABLE.undecided(PROFILE, B) == [SLOW_ROUND]
    assert TABLE.undecided(PROFILE, A) == []
    assert TABLE.cut_short(PROFILE) == {"tiny": [SLOW_ROUND]}
    assert TABLE.idle(PROFILE) == ["lose_end"]
    assert TABLE.idle(OTHER) == []
    assert TABLE.of(OTHER, TINY) == {}


def test_a_set_is_minimal_over_all_instances_together() -> None:
    small = {
        QUIET: Entry(10, 20, 3, {A: 3}, (B, C)),
        LOSE_END: Entry(15, 20, 3, {A: 3}),
        SLOW_ROUND: Entry(12, 20, 3, {A: 2, B: 7}),
        CRASH: Entry(30, 60, 5, {A: 2, B: 2, C: 9}),
    }
    both = replace(TABLE, entries={"5.3.3": {"tiny": ENTRIES, "small": small}})
    assert both.minimal_sets(PROFILE, A) == [Minimal(QUIET, 3, TINY)], "the first of the plan where both have the depth"
    assert both.minimal_sets(PROFILE, B) == [Minimal(SLOW_ROUND, 7, SMALL), Minimal(CRASH, 2, SMALL)]
    assert both.minimal_sets(PROFILE, C) == [Minimal(CRASH, 9, SMALL)], "the pair of tiny has it as a part"
    assert both.undecided(PROFILE, B) == [QUIET], "no instance breaks it in the quiet world, and small was cut short"
    assert both.undecided(PROFILE, C) == [QUIET, SLOW_ROUND]
    assert both.undecided(PROFILE, A) == []
    assert both.idle(PROFILE) == [], "what does nothing in one instance may do something in another"


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"profile_names": ("4.5.1",)}, "profiles are 4.5.1, and the specification has 4.5.1, 4.9.7"),
        ({"faults": ("crash",)}, "faults are crash, and the specification has slow_local"),
        ({"clause_names": NAMES[:1]}, f"clauses are {NAMES[0]}, and the specification has {NAMES[0]}, {NAMES[1]}"),
        ({"specification": "0123456789abcdef"}, "it was made from the specification 0123456789abcdef, and this one is"),
    ],
)
def test_a_table_of_another_specification_says_what_differs(changed: dict[str, Any], complaint: str) -> None:
    (line,) = replace(TABLE, **changed).stale()
    assert complaint in line


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[plan", "verdicts.toml: "),
        ("", "'plan'"),
        ("[plan]\ntiny = { most = 1 }", "most"),
        ("[plan]\n[verdicts.x.tiny.crash]\nidle = true", "'quiet'"),
        ("[plan]\n[verdicts.x.tiny.crash]\ndistinct = 1", "'generated'"),
        ("\udcff", "verdicts.toml: "),
        (None, "No such file"),
    ],
)
def test_a_bad_file_is_named_in_one_line(content: str | None, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "verdicts.toml"
    if content is not None:
        file.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadFile) as said:
        read_table(file)
    assert complaint in str(said.value)
    assert str(file) in str(said.value)
    assert "halfcheck verdicts --update" in str(said.value)
    assert said.value.exit_code == 150


def test_a_wrong_entry_is_said_with_what_the_search_gives() -> None:
    said = Entry(10, 20, 3, {A: 3, B: 4}, (C,))
    assert differing(said, said) == []
    assert differing(said, Entry(11, 20, 3, {A: 2, C: 3})) == [
        f"{NAMES[0]} is violated at depth 3 in the table, and is violated at depth 2 in the search",
        f"{NAMES[1]} is violated at depth 4 in the table, and holds in the search",
        f"{NAMES[2]} is unknown in the table, and is violated at depth 3 in the search",
        "distinct is 10 in the table, and 11 in the search",
    ]


def test_an_implication_is_refuted_by_an_environment_that_breaks_the_first_clause_sooner() -> None:
    good, bad, empty = Implication(B, A, ""), Implication(A, B, ""), Implication(CLAUSES[5], A, "")
    assert list(refuted(good, TABLE)) == []
    assert is_shown(good, TABLE)
    assert list(refuted(bad, TABLE)) == [
        f"5.3.3 tiny quiet: {NAMES[0]} is violated at depth 3, {NAMES[1]} is not",
        f"5.3.3 tiny lose_end: {NAMES[0]} is violated at depth 3, {NAMES[1]} is not",
        f"5.3.3 tiny slow_round: {NAMES[0]} is violated at depth 2, {NAMES[1]} is not",
        f"5.3.3 tiny crash: {NAMES[0]} is violated at depth 3, {NAMES[1]} only at depth 4",
        f"5.3.3 tiny slow_round,crash: {NAMES[0]} is violated at depth 2, {NAMES[1]} only at depth 5",
    ]
    assert not is_shown(empty, TABLE)


def test_an_implication_says_nothing_of_what_it_excepts_or_of_a_level_that_was_not_finished() -> None:
    excepted = Implication(A, B, "", unless=SLOW_ROUND)
    assert [line.split(":")[0] for line in refuted(excepted, TABLE)] == [
        "5.3.3 tiny quiet",
        "5.3.3 tiny lose_end",
        "5.3.3 tiny crash",
    ]
    cut = TableOfVerdicts("", (), (), (), {}, {"5.3.3": {"tiny": {CRASH: Entry(9, 9, 4, {A: 4}, (B,))}}})
    assert list(refuted(Implication(A, B, ""), cut)) == []
    cut.entries["5.3.3"]["tiny"][CRASH] = Entry(9, 9, 5, {A: 4}, (B,))
    assert len(list(refuted(Implication(A, B, ""), cut))) == 1


def test_what_the_table_shows_is_suggested_unless_it_is_declared_or_the_quiet_world_says_it_anyway() -> None:
    assert list(suggested(TABLE, ())) == [(C, B)]
    assert list(suggested(TABLE, (Implication(C, B, ""),))) == []
    assert implied_by(C, (Implication(C, B, ""), Implication(B, A, ""))) == {A, B, C}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[[implication]]\nviolated = 'S1.x'\nimplied = 'S1.y'\nwhy = ''", "'S1.x' is no clause"),
        (f"[[implication]]\nviolated = '{NAMES[0]}'\nwhy = ''", "implied"),
        (
            f"[[implication]]\nviolated = '{NAMES[0]}'\nimplied = '{NAMES[1]}'\nwhy = ''\nunless = ['fire']",
            "'fire' is no fault",
        ),
        (
            f"[[implication]]\nviolated = '{NAMES[0]}'\nimplied = '{NAMES[1]}'\nwhy = ''\n"
            f"[[implication]]\nviolated = '{NAMES[1]}'\nimplied = '{NAMES[0]}'\nwhy = ''",
            "imply each other",
        ),
        (None, "No such file"),
    ],
)
def test_a_bad_file_of_implications_is_named_in_one_line(content: str | None, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "implications.toml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(BadFile, match=complaint):
        read_implications(file)
