"""Answers of one transaction among others: what holds for any number, what is shown of the rest, and what is open."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema

from halfcheck.app import run
from halfcheck.errors import ExitCode
from halfcheck.printing.check import print_answer
from model_check.answers.answer import Answer, search_portfolio
from model_check.answers.chosen_instances import those_that_show
from model_check.any_number.compared_instances import AMONG_OTHERS
from model_check.check import BROKEN_AMONG_OTHERS
from model_check.clauses import chosen_clauses, clauses_by_name
from model_check.finding import SCHEMA, Verdict
from model_check.verdicts.table import table_of_verdicts
from model_check.world import NO_FAULTS, Environment, Profile, World

if TYPE_CHECKING:
    import pytest

CLAUSES = clauses_by_name()


def answered(profile: str, *faults: str, properties: tuple[str, ...] = (), most_states: int | None = None) -> Answer:
    clauses = chosen_clauses(properties)
    return search_portfolio(Profile.of(profile), Environment.of(faults), clauses=clauses, most_states=most_states)


def searched(answer: Answer) -> list[str]:
    return [finding.world.instance.name for finding in answer.findings]


def test_the_repaired_protocol_holds_for_any_number(capsys: pytest.CaptureFixture[str]) -> None:
    answer = answered("fixed")
    assert searched(answer) == [*AMONG_OTHERS, "odd"]
    assert [(row.name, row.depth, row.world.instance.name) for row in answer.broken] == [
        ("R1.too_many_copies", 8, "odd")
    ]
    assert len(answer.holding) > 15
    assert all(row.for_any_number for row in answer.holding)
    assert answer.undecided == ()
    print_answer(answer)
    told = capsys.readouterr().out
    assert f"{len(answer.holding)} guarantees hold, for any number of transactions, in runs of any length; " in told
    assert "  crowd: any number of transactions, in runs of any length, 3 checks, times of up to 3 ticks, " in told
    assert "not searched, as they show nothing more: tiny, " in told
    assert "to the bounds" not in told


def test_what_is_broken_is_what_the_table_has_in_as_many_steps() -> None:
    answer = answered("4.9.7")
    table = table_of_verdicts()
    world = World.of("4.9.7", (), "tiny")
    known = {name: table.known_violation(world, clause) for name, clause in CLAUSES.items()}
    assert {row.name: row.depth for row in answer.broken} == {
        name: one.depth for name, one in known.items() if one is not None
    }
    assert {answer.for_any_number(row.clause) for row in answer.broken} == {Verdict.VIOLATED}


def test_the_json_says_what_holds_for_any_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--profile", "fixed", "--property", "S5", "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, json.loads(SCHEMA.read_text(encoding="utf-8")))
    clauses = told["properties"]["S5"]["clauses"]
    assert {clause["any_number"] for clause in clauses.values()} == {"holds"}
    assert [one["name"] for one in told["instances"]] == list(AMONG_OTHERS)
    assert [one["any_number"] for one in told["searched_together"]] == [True, True]


def test_where_nothing_is_claimed_the_whole_portfolio_is_searched() -> None:
    answer = answered("4.9.7", "retention", properties=("S5",), most_states=2_000)
    assert not set(AMONG_OTHERS) & set(searched(answer))
    assert {"tiny", "deep", "lasting", "trio"} < set(searched(answer))
    assert answer.for_any_number(answer.rows[0].clause) is None


def test_what_is_known_to_be_broken_is_only_shown() -> None:
    """No search among others is needed where all that is asked for is broken."""
    assert searched(answered("4.9.7", properties=("L2.never_asked", "S1.immune_half"))) == ["tiny", "odd"]
    shown = those_that_show(Profile.of("4.9.7"), NO_FAULTS, [CLAUSES["S9.unread_op"], CLAUSES["S1.immune_half"]])
    assert {size.name: clauses for size, clauses in shown.items()} == {
        "tiny": [CLAUSES["S1.immune_half"]],
        "lasting": [CLAUSES["S9.unread_op"]],
    }


def test_what_only_one_among_others_breaks_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    """In 5.5.1 no schedule of many is known that leaves an op message behind without a fault."""
    answer = answered("5.5.1", properties=("L4",))
    (row,) = answer.undecided
    assert row.why.startswith(f"{BROKEN_AMONG_OTHERS}, in ")
    assert answer.for_any_number(row.clause) is Verdict.UNKNOWN
    print_answer(answer)
    assert "1 is unknown: one transaction among others breaks it, in " in capsys.readouterr().out
