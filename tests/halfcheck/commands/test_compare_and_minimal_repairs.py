"""``halfcheck compare`` and ``halfcheck repairs``, and what `check` says is left where a repair is on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from document.console import show
from halfcheck.app import run
from halfcheck.errors import ExitCode
from halfcheck.printing.switches import facts_of
from model_check.answers.minimal_repairs import LeftOfRepairs, find_minimal_repairs
from model_check.clauses import chosen_clauses
from model_check.defects.switch_effects import searched_claims, unshown_claims
from model_check.finding import SCHEMA
from model_check.switches import switch_records
from model_check.world import Profile, World

REPAIRED = "5.4.0+heeds_settled_originals"
LEFT = (
    "S1.immune_half: B01 is repaired; still broken through A16 and B05; "
    "holds with -batches_ops or +settles_once besides (searched in tiny)"
)


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def told(out: str) -> str:
    return " ".join(out.split())


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_two_profiles_are_shown_side_by_side_where_they_differ(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code = run(["compare", "4.9.7", "4.9.7+heeds_settled_originals", "--instance", "tiny", "--property", "S1"])
    out = capsys.readouterr().out
    assert code == ExitCode.OK, "nothing of S1 is broken with the repair"
    assert told(out).startswith("From 4.9.7 to 4.9.7+heeds_settled_originals, in the quiet world: 0 new, ")
    mended = told(out).partition("Mended by")[2].partition("In both")[0]
    assert "S1.immune_half (B01)" in mended
    assert "delivered, and delivered again after a check" in mended
    assert "1 guarantee holds in both, to the bounds of tiny" in told(out)
    assert "13 cannot be broken there" in told(out)
    assert "S2." not in out
    assert all(len(line) <= columns for line in out.splitlines())


def test_the_comparison_says_what_a_repair_that_is_not_enough_has_repaired(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", "5.4.0", REPAIRED, "--instance", "tiny", "--property", "S1.immune_half"]
    assert run(arguments) == ExitCode.SAFETY_VIOLATED
    out = capsys.readouterr().out
    assert "S1.immune_half (A16 B05)" in told(out).partition("In both")[2]
    assert LEFT in told(out)
    assert run([*arguments, "--json"]) == ExitCode.SAFETY_VIOLATED
    data = json.loads(capsys.readouterr().out)
    assert data["profiles"] == ["5.4.0", REPAIRED]
    assert data["differences"]["S1.immune_half"]["before"]["resembles"] == ["B01", "A16", "B05"]
    assert data["left"]["S1.immune_half"]["holds_with"] == [["-batches_ops"], ["+settles_once"]]
    assert [one["clause"] for one in data["groups"]["both"] if one["clause"]] == ["S1.immune_half"]


def test_an_upgrade_is_answered_in_three_groups_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "4.9.7", "5.5.1"]) == ExitCode.SAFETY_VIOLATED
    out = told(capsys.readouterr().out)
    titles = ("New or worse with 5.5.1, gravest first", "Mended by 5.5.1", "In both, 4.9.7 and 5.5.1", "by the table")
    assert [out.find(title) for title in titles] == sorted(out.find(title) for title in titles)
    new = out.partition("Mended by")[0]
    assert "A17 one core is busy for nothing (always): no setting helps" in new
    assert "B02 delivered twice (with crash): a shorter transactionOpBatchInterval makes it rarer" in new
    assert "steps" not in out, "how long a counterexample is says nothing to whoever upgrades"
    assert "transactionCheckInterval, if it is not set, goes from 60,000 to 30,000 ms" in out
    assert "CUT SHORT" not in out


def test_two_releases_are_judged_with_a_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broker.conf").write_text("transactionTimeOut=6000\ntransactionOpBatchInterval=3000\n")
    asked = ["compare", "4.9.7", "5.5.1", "--broker-conf", "broker.conf", "--instance", "tiny"]
    assert run([*asked, "--property", "S1.late_op"]) == ExitCode.SAFETY_VIOLATED
    out = told(capsys.readouterr().out)
    assert out.startswith("From 4.9.7 to 5.5.1 with broker.conf, in the quiet world")
    assert "any number of transactions" not in out, "that was compared with other times"
    assert "S1.late_op (B05) a message is delivered" in out.partition("Mended by")[0]
    assert "written or read late, after 6.001 s: raise transactionTimeOut" in out
    assert "line 2: transactionOpBatchInterval is a setting of 5.5.1, and 4.9.7 ignores it" in out


def test_check_says_what_is_left_where_a_repair_is_on(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "--profile", REPAIRED, "--instance", "tiny", "--property", "S1.immune_half"]
    assert run(arguments) == ExitCode.SAFETY_VIOLATED
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("S1.immune_half (A16, B05), 15 steps in tiny")
    assert LEFT in told(" ".join(lines))
    assert run([*arguments, "--json"]) == ExitCode.SAFETY_VIOLATED
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert data["left"]["S1.immune_half"] == {
        "repaired": ["B01"],
        "claims": [],
        "broken_through": ["A16", "B05"],
        "holds_with": [["-batches_ops"], ["+settles_once"]],
        "instances": ["tiny"],
    }
    assert run(["check", "--profile", "5.4.0", *arguments[3:]]) == ExitCode.SAFETY_VIOLATED
    assert "repaired;" not in capsys.readouterr().out


def test_what_an_entry_says_of_its_switch_is_searched_before_a_defect_is_called_repaired(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`keeps_flag` has nothing to do with B01, `heeds_settled_originals` repairs it; none of them is on record here."""
    claims = {name: replace(switch_records()[name], defects=("B01",)) for name in ("keeps_flag", "settles_once")}
    for name, record in claims.items():
        monkeypatch.setitem(switch_records(), name, record)
    assert unshown_claims("keeps_flag") == unshown_claims("settles_once") == ("B01",)
    show(facts_of(switch_records()["keeps_flag"]))
    assert "so its entry says; no search on record shows it" in capsys.readouterr().out
    run(["check", "--profile", "5.4.0+keeps_flag", "--instance", "tiny", "--property", "S1.immune_half"])
    out = told(capsys.readouterr().out)
    assert "repaired" not in out.replace("says that it repairs", "")
    assert (
        "keeps_flag says that it repairs B01, and does not; S1.immune_half in 4.9.7+keeps_flag, quiet, on tiny: "
        "broken after 16 steps; still broken through B01, A16 and B05"
    ) in out
    (clause,) = chosen_clauses(["S1.immune_half"])
    (claim,) = searched_claims(clause, Profile.of("5.4.0+settles_once"))
    assert str(claim) == (
        "settles_once says that it repairs B01, and is not on record for it; S1.immune_half in 4.9.7+settles_once, "
        "quiet, on tiny: not broken"
    )


def test_repairs_whose_searches_were_cut_short_are_not_said_to_mend_nothing() -> None:
    (clause,) = chosen_clauses(["S1.immune_half"])
    world, repairs = World.of("4.9.7"), ("+heeds_settled_originals",)
    more = find_minimal_repairs(
        world.profile, world.environment, clause, instances=[world.instance], among=repairs, most_states=2_200
    )
    assert str(LeftOfRepairs(clause, ("A11",), ("B01",), (), more)) == (
        "S1.immune_half: A11 is repaired; still broken through B01; "
        "no violation is found with +heeds_settled_originals besides, CUT SHORT (searched in tiny)"
    )


def test_the_answer_outlives_an_interrupt_of_what_is_searched_after_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("model_check.answers.minimal_repairs.find_minimal_repairs", pressed)
    arguments = ["check", "--profile", REPAIRED, "--instance", "tiny", "--property", "S1.immune_half"]
    assert run(arguments) == ExitCode.SAFETY_VIOLATED
    out, err = capsys.readouterr()
    assert "S1.immune_half (A16, B05), 15 steps in tiny" in out
    assert "halfcheck: interrupted: it was not searched what else S1.immune_half takes" in err


def test_the_minimal_sets_of_repairs_are_told_with_the_bounds_of_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["repairs", "--profile", "5.4.0", "--property", "S1.immune_half", "--instance", "tiny"]
    assert run(arguments) == ExitCode.SAFETY_VIOLATED
    out = told(capsys.readouterr().out)
    assert "+settles_once A11 A12 A13 A14 A39 B10 B16 B30 B48 B49 B59 B60 -batches_ops" in out
    assert "+heeds_settled_originals A15 B01 B05 B47" in out
    assert "all sets of at most 3 of" in out
    assert "'holds' is to the bounds of what was searched, each by itself: tiny: 1 transaction, 3 half slots, " in out
    assert run([*arguments, "--most", "1", "--json"]) == ExitCode.SAFETY_VIOLATED
    data = json.loads(capsys.readouterr().out)
    assert [one["repairs"] for one in data["clauses"]["S1.immune_half"]["sets"]] == [["+settles_once"]]
    assert (data["most_repairs"], data["instances"], data["not_violated"]) == (1, ["tiny"], [])


def test_a_repair_that_is_being_judged_is_tried_with_others_or_alone(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["repairs", "--instance", "tiny", "--property", "L2.never_asked", "--most", "1"]
    sets = []
    for options in ([], ["--with", "skips_long_immunities"], ["--among", "keeps_flag", "--with", "counts_sent_checks"]):
        assert run([*asked, *options, "--profile", "5.5.1", "--json"]) == ExitCode.SAFETY_VIOLATED
        data = json.loads(capsys.readouterr().out)
        sets.append({one["repairs"][0] for one in data["clauses"]["L2.never_asked"]["sets"]})
    usual, more, chosen = sets
    assert (more - usual, usual - more) == ({"+skips_long_immunities"}, set())
    assert chosen == {"+counts_sent_checks"}
    assert run([*asked, "--with", "keep_flag"]) == ExitCode.BAD_OPTION
    assert "no switch 'keep_flag'; did you mean keeps_flag?" in capsys.readouterr().err
    assert run(["check", "--instance", "tiny", "--with", "keeps_flag"]) == ExitCode.BAD_OPTION
    assert "No such option: --with" in capsys.readouterr().err


def test_what_nothing_in_the_broker_mends_and_what_needs_no_repair(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["repairs", "--instance", "tiny", "--most", "1"]
    assert run([*asked, "--faults", "lose_end", "--property", "L5.end_lost"]) == ExitCode.SAFETY_VIOLATED
    assert "no single repair mends it; all together do not mend it either" in told(capsys.readouterr().out)
    assert run([*asked, "--profile", "fixed", "--property", "S1"]) == ExitCode.OK
    assert "there is nothing to repair" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["compare", "5.4.0", "5.4.0+settle_once"], "no switch 'settle_once'; did you mean settles_once?"),
        (["compare", "5.4.0", "4.9.7", "--profile", "5.3.3"], "No such option: --profile"),
        (["compare", "5.4.0", "4.9.7", "--minimal-faults"], "No such option: --minimal-faults"),
        (["compare", "5.4.0", "4.9.7", "--version", "5.3.3"], "No such option: --version"),
        (["compare", "5.4.0", "4.9.7", "--immunity", "6s"], "--immunity speaks of a broker.conf"),
        (["compare", "5.4.0", "fixed", "--broker-conf", "b.conf"], "expected a release such as 5.3.4"),
        (["compare", "5.4.0", "5.4"], "no profile '5.4'"),
        (["repairs", "--itf", "a.json"], "No such option: --itf"),
        (["repairs", "--profile", "5.4.0", "--profile", "4.9.7"], "give one profile"),
    ],
)
def test_what_makes_no_sense_is_answered_in_one_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == ExitCode.BAD_OPTION
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert complaint in err
