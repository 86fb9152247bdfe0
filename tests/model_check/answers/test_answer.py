"""A verdict over a family of instances is the one of the table of verdicts, and says what bounds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from halfcheck.printing.check import print_answer
from model_check.answers.answer import answer_of, search_portfolio
from model_check.answers.chosen_instances import (
    FOR_ALL,
    FOR_NO_RELEASE,
    instance_that_shows,
    portfolio_of,
    smallest_first,
    those_that_forget,
)
from model_check.check import check
from model_check.clauses import chosen_clauses, clauses_by_name
from model_check.finding import Bounds, Numbers, Verdict
from model_check.instances import load_instance
from model_check.occurrence import unmet_needs
from model_check.question import Question
from model_check.verdicts.table import table_of_verdicts
from model_check.world import NO_FAULTS, Environment, Profile, World
from spec.profiles import VERSIONS, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.answers.answer import Answer
    from model_check.explicit.search import Progress
    from model_check.verdicts.table import Entry
    from spec.constants import Instance

CLAUSES = clauses_by_name()


def searched(
    profile: str, *faults: str, properties: Sequence[str] = (), sizes: Sequence[str] = (), **more: Any
) -> Answer:
    """`search_portfolio` of these names."""
    instances = [*map(load_instance, sizes)]
    world = Profile.of(profile), Environment.of(faults)
    return search_portfolio(*world, clauses=chosen_clauses(properties), instances=instances, **more)


def names(instances: Iterable[Instance]) -> list[str]:
    return [instance.name for instance in instances]


def instances_of(answer: Answer) -> list[Instance]:
    return [finding.world.instance for finding in answer.findings]


def quiet(profile: str, instance: str) -> Entry:
    """The entry of the table of verdicts."""
    return table_of_verdicts().of(Profile.of(profile), load_instance(instance))[NO_FAULTS]


@pytest.mark.parametrize("profile", distinct(VERSIONS))
def test_b01_is_found_in_each_release_without_an_instance_being_named(profile: str) -> None:
    answer = searched(profile, properties=["S1.immune_half"])
    (row,) = answer.broken
    assert "B01" in row.clause.resembles
    assert (row.world.instance.name, row.depth) == ("tiny", 15 if profile >= "5" else 16)
    sizes = names([*smallest_first(Profile.of(profile), NO_FAULTS), *those_that_forget()])
    assert names(instances_of(answer)) == ["tiny"]
    assert names(answer.left_out) == [*(name for name in sizes if name not in ("tiny", *FOR_ALL)), *FOR_ALL]
    assert {"small", "deep", "skewed", "lasting", "pair", "proxied", *FOR_ALL} <= set(names(answer.left_out))


@pytest.mark.parametrize("instances", [("tiny", "odd"), pytest.param((), marks=pytest.mark.sweep)])
def test_the_verdicts_of_the_quiet_world_are_those_of_the_table(instances: tuple[str, ...]) -> None:
    table = table_of_verdicts()
    sizes = instances or tuple(size.name for size in table.instances)
    answer = searched("4.9.7", sizes=sizes)
    expected = [quiet("4.9.7", name).violated for name in sizes]
    assert {row.clause: row.depth for row in answer.rows} == {
        clause: min((violated[clause] for violated in expected if clause in violated), default=None)
        for clause in CLAUSES.values()
    }
    for row in answer.broken:
        name = row.world.instance.name  # of a run of any length that of the instance in which it was unfolded
        where = name if name in table.plan else name.partition("@")[0]
        assert quiet("4.9.7", where).violated[row.clause] == row.depth
    counted = len(answer.broken) + len(answer.holding) + sum(len(rows) for rows in answer.reasons.values())
    assert counted + len(answer.known) == len(CLAUSES)
    assert answer.whole.numbers.distinct == sum(quiet("4.9.7", name).distinct for name in sizes)
    assert [row.name for row in answer.broken][:2] == ["S1.immune_half", "S1.late_op"]
    if instances:
        assert {row.name for row in answer.broken_elsewhere} == {"S9.unread_op", "L4.left_behind"}
        return
    assert (answer.undecided, answer.broken_elsewhere) == ((), ())
    (unread,) = [row for row in answer.broken if row.name == "S9.unread_op"]
    assert answer.in_runs_of_any_length(unread.clause) is Verdict.VIOLATED
    assert {answer.in_runs_of_any_length(row.clause) for row in answer.holding} == {Verdict.HOLDS}
    assert answer.bounds == {"transactions": 3, "half_slots": 5, "op_slots": 3, "checks": 3, "ticks": 5}


def test_the_instance_with_the_shortest_violation_is_searched() -> None:
    """The smallest instance breaks it after 9 steps, another one after 5: that is what the report shows, too."""
    answer = searched("4.9.7", properties=["L2.never_asked"])
    (row,) = answer.broken
    assert (row.world.instance.name, row.depth) == ("odd", 5)
    assert names(instances_of(answer)) == ["odd"]
    assert set(names(answer.left_out)) == {"tiny", "small", "deep", "skewed", "lasting", "pair", "proxied", *FOR_ALL}


def test_what_is_said_to_be_searched_was_searched_together(capsys: pytest.CaptureFixture[str]) -> None:
    """No instance of these has two transactions and an immunity, nor four half slots and two transactions."""
    answer = searched("4.9.7", properties=["S5"], sizes=["tiny", "odd", "small", "deep"])
    assert {one.instance: one.in_words(NO_FAULTS) for one in answer.searched_together} == {
        "odd": "1 transaction, 3 half slots, 2 op slots, 1 check, times of up to 5 ticks, with immunities",
        "small": "2 transactions, 3 half slots, 2 op slots, 2 checks, times of up to 2 ticks, no immunities",
        "deep": "1 transaction, 4 half slots, 3 op slots, 3 checks, times of up to 3 ticks, with immunities",
    }, "deep covers tiny in all sizes"
    assert answer.bounds == {"transactions": 2, "half_slots": 4, "op_slots": 3, "checks": 3, "ticks": 5}
    print_answer(answer)
    said = capsys.readouterr().out
    assert "1 guarantee holds, to the bounds of what was searched, each by itself; --all lists it\n  odd: 1 tr" in said
    assert "at most 2 transactions" not in said
    assert [one["instance"] for one in answer.to_json()["searched_together"]] == ["odd", "small", "deep"]


def test_what_faults_are_bounded_by_is_said_of_runs_of_any_length() -> None:
    one = Bounds.of(load_instance("lasting"), Numbers(1, 1, 0, complete=True))
    assert one.in_words(Environment.of(["crash"])) == (
        "1 transaction alive at a time, in runs of any length, 15 checks, times of up to 3 ticks, with immunities, "
        "faults that reach 1 place back, at most 1 crash"
    )


def test_an_instance_besides_that_is_cut_short_leaves_standing_what_holds_in_the_others() -> None:
    answer = searched("4.9.7", properties=["S5"], sizes=["tiny", "medium"], most_states=5_000)
    (row,) = answer.holding
    assert (row.verdict, answer.whole.numbers.complete) == (Verdict.HOLDS, True)
    (tiny, cut) = answer.searched_together
    assert (tiny.complete, cut.complete) == (True, False)
    assert cut.in_words(NO_FAULTS).startswith(f"the first {cut.states:,} states of it, 2 transactions, ")


def test_what_can_be_broken_only_where_a_search_is_cut_short_is_known() -> None:
    """Three transactions without a fault: the table has searched them in the quiet world of each release."""
    for profile in VERSIONS:
        sizes = [size for size in smallest_first(Profile.of(profile), NO_FAULTS) if size.name not in FOR_NO_RELEASE]
        plan = [World.of(profile, (), size).constants for size in sizes]
        besides = [World.of(profile, (), name).constants for name in FOR_NO_RELEASE]
        fewest = {
            name: [min(len(unmet_needs(clause, one)) for one in sizes) for sizes in (plan, besides)]
            for name, clause in CLAUSES.items()
        }
        alone = {name for name, (in_plan, in_besides) in fewest.items() if in_besides < in_plan}
        assert alone == {"S7.in_memory", "S1.passed_op", "S9.passed_op"}
        assert not quiet(profile, "trio").unknown


def test_a_profile_that_is_no_release_is_searched_in_larger_instances() -> None:
    release, another, crash = Profile.of("4.5.1"), Profile.of("4.5.1+keeps_discarded"), Environment.of(["crash"])
    of_release, of_another = portfolio_of(release, crash), portfolio_of(another, crash)
    assert names(of_release)[-3:] == ["pair", "large@2x3x2", "trio"]
    assert set(names(of_another.keys() - of_release.keys())) == {"medium", "large"}
    assert all(of_another[size] >= most for size, most in of_release.items())
    assert portfolio_of(release, crash, compared_with=[Profile.of("4.9.7")]) == of_release
    assert portfolio_of(release, crash, compared_with=[another]) == of_another
    without = portfolio_of(release, NO_FAULTS)
    more = {size.name for size in without if without[size] > of_release[size]}
    assert more == set(FOR_ALL), "the table has seen all of them"


def test_the_smallest_instance_comes_first() -> None:
    for profile in Profile.versions():
        *plain, behind_proxies = smallest_first(profile, NO_FAULTS)
        sizes = [quiet(profile.name, size.name).distinct for size in plain]
        assert sizes == sorted(sizes)
        assert behind_proxies.name == "proxied"
    profile, crash = Profile.of("5.4.0"), Environment.of(["crash"])
    assert smallest_first(profile.turn("+settles_once"), crash) == smallest_first(profile, crash)


def test_the_instance_that_is_chosen_can_show_what_is_asked_for() -> None:
    def chosen(profile: str, wanted: str, *faults: str) -> str:
        return instance_that_shows(Profile.of(profile), Environment.of(faults), chosen_clauses([wanted])).name

    assert chosen("5.3.3", "S1.immune_half") == "tiny"
    assert chosen("5.3.3", "S4", "power_loss") == "small"
    assert chosen("5.3.3", "L3.exception", "null_half") == "tiny"
    assert chosen("5.4.0+settles_once", "L2.preset_checks") == "odd"


def test_an_instance_that_cannot_see_a_defect_is_contradicted_by_the_table() -> None:
    answer = answer_of(check(Question.of("4.9.7", (), "small", properties=["S1"])))
    row, late = answer.broken_elsewhere
    assert (row.name, row.verdict) == ("S1.immune_half", Verdict.HOLDS)
    assert (late.name, answer.known[late.clause].instance.name) == ("S1.late_op", "odd")
    known = answer.known[row.clause]
    assert (known.instance.name, known.depth, known.environment) == ("tiny", 16, NO_FAULTS)
    assert answer.cannot_occur[row.clause] == "needs a message with an immunity"
    assert row not in answer.holding
    assert row not in [one for rows in answer.reasons.values() for one in rows]


def test_of_a_switched_profile_the_table_says_nothing() -> None:
    known_violation, twin_half = table_of_verdicts().known_violation, CLAUSES["S1.twin_half"]
    assert known_violation(World.of("4.9.7+settles_once"), CLAUSES["S1.immune_half"]) is None
    assert known_violation(World.of("4.9.7"), twin_half) is None
    known = known_violation(World.of("4.9.7", ["crash", "twin_send"]), twin_half)
    assert known is not None
    assert known.environment == ("twin_send",)


def test_a_clause_is_unknown_where_a_search_was_cut_short() -> None:
    answer = searched("4.9.7", properties=["S5"], sizes=["tiny", "odd"], most_states=4_000)
    (row,) = answer.undecided
    assert row.why.startswith("none is found; cut short in odd (")
    assert answer.holding == ()


def test_what_runs_of_any_length_leave_open_holds_to_the_bounds_of_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = searched("4.9.7", properties=["S5"], sizes=["tiny", "lasting"], most_states=10_000)
    (row,) = answer.holding
    assert [one.numbers.complete for one in answer.findings] == [True, False]
    assert (row.verdict, answer.in_runs_of_any_length(row.clause)) == (Verdict.HOLDS, Verdict.UNKNOWN)
    assert answer.bounds["half_slots"] == load_instance("tiny").half_slots
    told = answer.to_json()["properties"]["S5"]
    assert (told["verdict"], told["clauses"][row.clause.clause]["any_length"]) == ("holds", "unknown")
    print_answer(answer)
    said = " ".join(capsys.readouterr().out.split())
    assert "1 guarantee holds, to the bounds of what was searched; --all lists it tiny: 1 transaction, " in said
    assert "not decided for runs of any length in lasting: none is found among" in said
    assert "all reachable states, but not of lasting: " in said


def test_an_interrupted_portfolio_knows_nothing_of_what_it_has_not_searched() -> None:
    def press(name: str, _progress: Progress) -> None:
        if name.startswith("odd"):
            raise KeyboardInterrupt

    answer = searched("4.9.7", properties=["S5", "S1.immune_half"], sizes=["tiny", "odd", "deep"], report=press)
    assert names(answer.left_out) == ["deep"]
    assert [row.name for row in answer.broken] == ["S1.immune_half"]
    (row,) = answer.undecided
    assert row.why.endswith("interrupted before deep")


def test_what_holds_to_the_bounds_still_does_where_a_run_of_any_length_was_interrupted() -> None:
    def press(name: str, _progress: Progress) -> None:
        if name.startswith("lasting"):
            raise KeyboardInterrupt

    answer = searched("4.9.7", properties=["S5"], sizes=["tiny", "lasting", "pair"], report=press)
    assert (answer.is_interrupted, names(answer.left_out), answer.undecided) == (True, ["pair"], ())
    (row,) = answer.holding
    assert answer.in_runs_of_any_length(row.clause) is Verdict.UNKNOWN


def test_a_fault_that_is_off_or_missing_in_all_instances_makes_a_clause_impossible() -> None:
    answer = searched("4.9.7", "crash", properties=["S10", "S4"], sizes=["tiny"])
    assert not answer.broken
    assert not answer.holding
    assert {row.name for rows in answer.reasons.values() for row in rows} == {
        "S10.op_entry_dies_with_the_process",
        "S10.op_entry_not_stored",
        "S4.foreign_original",
        "S4.same_offsets",
    }


def test_the_json_names_the_instance_of_each_violation() -> None:
    told = searched("4.9.7", properties=["S1"], sizes=["tiny", "odd"]).to_json()
    clauses = told["properties"]["S1"]["clauses"]
    assert clauses["immune_half"]["instance"] == "tiny"
    assert "--instance tiny " in clauses["immune_half"]["replay"]
    assert clauses["late_op"]["instance"] == "odd"
    assert told["properties"]["S1"]["instance"] == "odd"
    assert clauses["twin_half"]["cannot_occur"] == "needs the fault twin_send or slow_proxy"
    assert [one["name"] for one in told["instances"]] == ["tiny", "odd"]
    assert sum(one["distinct"] for one in told["instances"]) == told["distinct"]
