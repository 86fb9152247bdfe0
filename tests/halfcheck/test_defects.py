"""``halfcheck defects``: the list, one defect in full, JSON, and one line where something is not as it should be."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

from fuzz.defects import scenario as scenarios_module
from halfcheck.app import run
from halfcheck.errors import ExitCode
from model_check.clauses import clauses_by_name
from model_check.defects import catalogue as catalogue_module
from model_check.defects import findings as findings_module
from model_check.defects.affected import defects_in
from model_check.defects.catalogue import catalogue
from model_check.defects.findings import LASSO_FINDINGS, SEARCH_FINDINGS
from model_check.remedies.advice import remedy_of
from model_check.wording.clauses import meaning_of
from model_check.world import Profile

SCHEMA = json.loads(Path(catalogue_module.__file__).with_name("schema.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, object]]:
    assert run(["defects", *words, "--json"]) == ExitCode.OK
    content: dict[str, dict[str, object]] = json.loads(capsys.readouterr().out)
    jsonschema.validate(content, SCHEMA)
    return content


def test_the_list_has_every_id_and_what_is_on_record(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert re.findall(r"^([AB]\d\d) ", out, re.MULTILINE) == list(catalogue())
    row = next(line for line in out.splitlines() if line.startswith("B02"))
    assert re.search(r"S10\.op_entry_dies_with_the_process +5\.3\.3 +crash +4 +\d\.\d{3}$", row)
    assert re.search(r"^A06 .* broker +L3 +4\.5\.1 *$", out, re.MULTILINE)
    assert re.search(r"^B07 .* search\+broker +L3\.poison_half +", out, re.MULTILINE)
    assert "118 defects, 99 of them found: 67 by a search, 41 in the reference broker;" in " ".join(out.split())


def test_the_json_of_the_list_gives_the_figures_on_record_without_a_search(
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = told(capsys)
    assert list(content) == list(catalogue())
    for identifier, finding in SEARCH_FINDINGS.read().items():
        if identifier in content:
            assert (content[identifier]["depth"], content[identifier]["seconds"]) == (finding.depth, finding.seconds)
            assert content[identifier]["trace"] is None
    wanted = {"where": "search", "profile": "4.9.7", "repaired_in": "4.9.7+heeds_settled_originals", "property": "S1"}
    assert {key: content["B01"][key] for key in wanted} == wanted
    assert (content["A57"]["where"], content["A57"]["property"], content["A57"]["depth"]) == (
        "out_of_reach",
        None,
        None,
    )
    assert {key: content["A06"][key] for key in ("where", "profile", "repaired_in", "property", "depth")} == {
        "where": "broker",
        "profile": "4.5.1",
        "repaired_in": "4.9.7",
        "property": "L3",
        "depth": None,
    }
    assert (content["B07"]["where"], content["A02"]["broker"]) == ("search", None)
    alive = [name for name, told_of in content.items() if told_of["broker"] is not None or told_of["depth"] is not None]
    assert len(alive) == 99


def test_the_schema_refuses_a_renamed_key(capsys: pytest.CaptureFixture[str]) -> None:
    content = told(capsys, "B02")
    content["B02"]["fixed_in"] = content["B02"].pop("repaired_in")
    with pytest.raises(jsonschema.ValidationError, match="repaired_in"):
        jsonschema.validate(content, SCHEMA)


def test_an_id_is_searched_for_and_its_schedule_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "b02"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert out.startswith(f"B02: {catalogue()['B02'].name}\n")
    assert "S10.op_entry_dies_with_the_process is violated after 4 steps" in out
    assert re.search(r"^ +4 +0 +crash ", out, re.MULTILINE)
    assert "repaired in 4.9.7, same environment and instance: holds; 9,371 states" in out
    commands = [line for line in out.splitlines() if line.startswith("halfcheck ")]
    assert commands[0] == (
        "halfcheck check --profile 5.3.3 --instance tiny --faults crash --property S10.op_entry_dies_with_the_process"
    )
    for command in commands:
        words = command.split('"')
        assert run([*words[0].split()[1:], *words[1:2]]) == ExitCode.SAFETY_VIOLATED


def test_the_json_of_an_id_has_the_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    content = told(capsys, "B02", "A06")
    assert list(content) == ["B02", "A06"]
    trace = content["B02"]["trace"]
    assert isinstance(trace, list)
    assert [event["action"] for event in trace] == ["send_half", "roll_back_locally", "buffer_op", "crash"]
    assert (content["B02"]["repaired"], content["A06"]["trace"]) == ("holds", None)


def test_an_id_that_only_the_broker_shows_is_played_with_what_was_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "B32", "A33"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert "found by: broker: topic configurations are below the state machine\n" in out
    told_of = " ".join(out.split())
    assert "found in the reference broker: An operator deletes a topic that nobody needs" in told_of
    assert "Breaks S9 in 4.5.1; also in 4.9.7-spares_op_queue; gone in 4.9.7 (played in " in told_of
    assert re.search(r"^seen +4\.5\.1 +4\.9\.7 *$", out, re.MULTILINE)
    assert re.search(r"^after a topic was deleted +0 +6 *$", out, re.MULTILINE)
    assert out.rstrip().endswith("where_it_is_repaired[A33]\nhalfcheck defects A33")
    shown = told(capsys, "A33")["A33"]["broker"]
    assert isinstance(shown, dict)
    assert {"fact": "end of the op queue", "affected": "6", "repaired": "6"} in shown["seen"]
    assert shown["command"] == "halfcheck defects A33"


def test_a_scenario_that_goes_another_way_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {**scenarios_module.scenarios()}
    wrong["B33"] = replace(wrong["B33"], affected=scenarios_module.BrokerProfile.of("5.3.3+delivers_where_readable"))
    monkeypatch.setattr(scenarios_module, "scenarios", lambda: wrong)
    assert run(["defects", "B33"]) == ExitCode.EVALUATION_ERROR
    assert capsys.readouterr().err == (
        "halfcheck: B33: the broker of 5.3.3+delivers_where_readable does not show the defect: "
        "answer to the commit: 0; queues that consumers read: 1; queue: 0\n"
    )


def test_a_defect_without_a_search_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "A47"]) == ExitCode.OK
    why = "the remoting port of the proxy is not in the specification"
    assert f"found by: out of reach: {why}" in capsys.readouterr().out


def test_a_wrong_repair_is_shown_with_what_it_breaks_and_the_search_that_shows_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (wrong,) = catalogue()["A58"].wrong_repairs
    repairs = told(capsys, "A58")["A58"]["wrong_repairs"]
    assert isinstance(repairs, list)
    (told_of,) = repairs
    assert (told_of["source"], told_of["clause"], told_of["depth"]) == ("#6401", "L5.refused_late", 7)
    assert (told_of["repaired_in"], told_of["repaired"], told_of["later_on"]) == ("4.9.7", "holds", None)
    assert [event["action"] for event in told_of["trace"]][-2:] == ["commit_locally", "refuse_late_end"]
    assert run(["defects", "A58"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert f"wrong repair, #6401: {wrong.proposal}. What breaks: {wrong.breaks}." in " ".join(out.split())
    assert "a search of 4.9.7+refuses_late_end, slow_local, on tiny: L5.refused_late is violated after 7 steps" in out
    assert "halfcheck check --profile 4.9.7+refuses_late_end --instance tiny --faults slow_local" in out


def test_a_wrong_repair_that_breaks_earlier_what_breaks_anyway_is_shown_with_both_depths(
    capsys: pytest.CaptureFixture[str],
) -> None:
    repairs = told(capsys, "A20")["A20"]["wrong_repairs"]
    assert isinstance(repairs, list)
    (told_of,) = repairs
    assert (told_of["depth"], told_of["later_on"], told_of["repaired"]) == (11, "patient", "13 steps on patient")
    assert run(["defects", "A20"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert "later where the instance is larger, same profile and environment: 13 steps on patient" in out


def test_a_wrong_repair_without_a_search_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "B39"]) == ExitCode.OK
    assert "shown by no search: thread pools are not in the specification" in capsys.readouterr().out


def test_a_wrong_repair_that_is_not_wrong_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a58 = catalogue()["A58"]
    (wrong,) = a58.wrong_repairs
    assert wrong.search is not None
    right = replace(
        a58,
        wrong_repairs=(
            replace(wrong, search=replace(wrong.search, world=wrong.search.world.in_profile(Profile.of("4.9.7")))),
        ),
    )
    monkeypatch.setattr(catalogue_module, "catalogue", lambda: {**catalogue(), "A58": right})
    assert run(["defects", "A58"]) == ExitCode.EVALUATION_ERROR
    assert capsys.readouterr().err.startswith("halfcheck: A58 #6401: L5.refused_late holds in 4.9.7 with slow_local")


def test_a_run_for_ever_is_shown_with_its_cycle_and_can_be_taken_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "A07"]) == ExitCode.OK
    out = capsys.readouterr().out
    words = " ".join(out.split())
    assert (
        "in runs that never end: P8.halves is violated in 4.5.1, undecodable_half, on endless, by 10 steps, then 3 "
        "again and again; 27,303 states"
    ) in words
    assert "holds in 4.9.7; 27,713 states" in words
    cycle = out.partition("from here on, again and again:")[2]
    assert re.search(r"begin_round .*abort_at_undecodable_half .*tick ", cycle, re.DOTALL)
    commands = [line for line in cycle.splitlines() if line.startswith("halfcheck ")]
    assert commands[1] == (
        "halfcheck check --profile 4.5.1 --instance endless --faults undecodable_half --property P8.halves"
    )
    command = commands[0].split('"')
    assert run([*command[0].split()[1:], command[1]]) == ExitCode.SAFETY_VIOLATED


def test_what_only_looks_like_a_run_for_ever_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "A03"]) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    assert "in runs that never end: P9.ops holds in 4.5.1, quiet, on endless; 25,141 states" in words
    assert "so that the op offset follows, a round late. halfcheck check --profile 4.5.1 --instance endless" in words


def test_the_json_has_what_is_on_record_of_endless_runs(capsys: pytest.CaptureFixture[str]) -> None:
    content = told(capsys, "L3", "L4")
    lasso = content["B29"]["lasso"]
    assert isinstance(lasso, dict)
    assert {name: lasso[name] for name in ("response", "stem", "cycle", "vanishes")} == {
        "response": "P8.halves",
        "stem": 12,
        "cycle": 5,
        "vanishes": None,
    }
    vanished = content["A03"]["lasso"]
    assert isinstance(vanished, dict)
    assert (vanished["stem"], vanished["repaired_in"]) == (None, None)
    assert content["B44"]["lasso"] is None


def test_another_lasso_than_the_one_on_record_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {**LASSO_FINDINGS.read(), "A07": replace(LASSO_FINDINGS.read()["A07"], cycle=4)}
    monkeypatch.setattr(findings_module, "LASSO_FINDINGS", SimpleNamespace(read=lambda: wrong))
    assert run(["defects", "A07"]) == ExitCode.EVALUATION_ERROR
    assert capsys.readouterr().err == (
        "halfcheck: A07: a lasso of 10 + 3 steps, but 10 + 4 is on record; make defects records what the specification "
        "gives now\n"
    )


def test_a_schedule_that_a_wrong_repair_shares_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "B01"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert out.count("begin_round               round.running: no → yes") == 2, "two rounds in one schedule"
    assert "the counterexample is that of B01, step by step" in out
    assert out.count("halfcheck replay --profile") == 2, "both can be taken again"


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_the_answer_begins_with_what_happens_and_what_to_do(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(["defects", "B02"]) == ExitCode.OK
    out = capsys.readouterr().out
    words = " ".join(out.split())
    titles = ("B02: ", "what happens: ", "to do: ", "versions: ", "repair: ", "how it comes about: ", "found by: ")
    places = [words.index(title) for title in titles]
    assert places == sorted(places)
    assert meaning_of(clauses_by_name()["S10.op_entry_dies_with_the_process"]).harm in words
    assert f"to do: {remedy_of('B02')}" in words
    assert "before," not in words.partition("to do: ")[2].partition("repair: ")[0]
    assert all(len(line) <= columns for line in out.splitlines() if not line.startswith("halfcheck "))


@pytest.mark.parametrize(
    ("word", "title", "ids"),
    [
        ("S1.immune_half", "S1.immune_half is broken by:", ["B01"]),
        ("s1.LATE_op", "S1.late_op is broken by:", ["A16", "B05", "B06", "B27", "B47"]),
        ("L4", "L4 is broken by:", ["A03", "A10", "B17", "B44", "B48", "B49"]),
        ("heeds_settled_originals", "heeds_settled_originals mends:", ["A15", "B01", "B47"]),
        ("keeps_check_open", "keeps_check_open mends:", ["B05", "B06", "B27"]),
    ],
)
def test_a_clause_lists_what_breaks_it_and_a_switch_what_it_mends(
    word: str, title: str, ids: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["defects", word]) == ExitCode.OK
    out = capsys.readouterr().out
    assert out.splitlines()[0] == title
    assert re.findall(r"^[AB]\d\d", out, re.MULTILINE) == ids
    assert list(told(capsys, word)) == ids


def test_what_is_neither_is_answered_with_what_it_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    for word, likely in (("S1.imune_half", "S1.immune_half"), ("settle_once", "settles_once")):
        assert run(["defects", word]) == ExitCode.BAD_OPTION
        assert f"no defect, clause, switch or symptom '{word}'; did you mean {likely}? There are ids such as B01" in (
            capsys.readouterr().err
        )
    assert run(["defects", "S1.end_after_escape"]) == ExitCode.OK
    assert capsys.readouterr().out == "S1.end_after_escape is broken by no defect that is known\n"


def test_an_unknown_id_is_answered_with_the_nearest_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "B1"]) == ExitCode.BAD_OPTION
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "halfcheck: no defect 'B1'; did you mean B01 (a commit inside the immunity is delivered twice)? "
        f"There are A01–A58 and B01–B60, and halfcheck defects lists all {len(catalogue())}\n"
    )


def test_another_depth_than_the_one_on_record_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {**SEARCH_FINDINGS.read(), "B02": replace(SEARCH_FINDINGS.read()["B02"], depth=5)}
    monkeypatch.setattr(findings_module, "SEARCH_FINDINGS", SimpleNamespace(read=lambda: wrong))
    assert run(["defects", "B02"]) == ExitCode.EVALUATION_ERROR
    assert capsys.readouterr().err == (
        "halfcheck: B02: found at depth 4, but 5 is on record; make defects records what the specification gives now\n"
    )


def test_a_defect_that_is_not_found_is_told_and_the_others_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    b02 = catalogue()["B02"]
    assert b02.search is not None
    wrong = {
        **catalogue(),
        "B02": replace(b02, search=replace(b02.search, world=b02.search.world.in_profile(Profile.of("4.9.7")))),
    }
    monkeypatch.setattr(catalogue_module, "catalogue", lambda: wrong)
    assert run(["defects", "B02", "B05"]) == ExitCode.EVALUATION_ERROR
    out, err = capsys.readouterr()
    assert "S9.late_op is violated after 8 steps" in out
    assert err.startswith(
        "halfcheck: B02: S10.op_entry_dies_with_the_process holds in 4.9.7 with crash on tiny, where it should be "
    )
    assert err.count("\n") == 1


def test_a_symptom_and_a_release_are_answered_with_what_a_user_sees(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "CPU", "100%", "--version", "5.3.3"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert out.startswith("what shows as “one core is busy”, of 5.3.3:\n")
    assert re.findall(r"^[AB]\d\d", out, re.MULTILINE) == ["A18", "A19", "B07", "B08", "B42"]
    assert catalogue()["A18"].effect in out
    assert run(["defects", "5.5.1"]) == ExitCode.OK
    assert "A17  one core is busy for nothing" in capsys.readouterr().out
    content = told(capsys, "重复消费", "--version", "5.5.1")
    assert all("delivered twice" in entry["symptoms"] for entry in content.values())  # type: ignore[operator]
    assert "B01" in content
    assert "A02" not in content
    assert list(told(capsys, "5.5.1")) == list(told(capsys, "--version", "5.5.1"))
    assert run(["defects", "visible before commit", "--version", "4.5.1"]) == ExitCode.OK
    assert capsys.readouterr().out == "what shows as “visible before the commit”, of 4.5.1: no defect that is known\n"


def test_whether_a_release_has_a_defect_is_said_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    for release, answer in (("5.5.1", "yes"), ("5.3.3", "no")):
        assert run(["defects", "A17", "--version", release]) == ExitCode.OK
        assert f"in {release}: {answer}\n" in capsys.readouterr().out


def test_of_a_release_that_nobody_has_read_no_defect_is_said_to_be_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    newer = "5.9.0 is newer, and its source has not been read"
    for words, said in (
        (["5.9.0"], f"RocketMQ 5.5.1 has {len(defects_in('5.5.1'))} of {len(catalogue())} known defects; {newer}:\n"),
        (["cpu", "--version", "5.9.0"], f"what shows as “one core is busy”, of 5.5.1; {newer}:\n"),
        (["A17", "--version", "5.9.0"], "in 5.9.0: not known: it is newer than 5.5.1, the newest release whose source"),
        (["A18", "--version", "5.9.0"], "in 5.9.0: no\n"),
    ):
        assert run(["defects", *words]) == ExitCode.OK
        assert said in capsys.readouterr().out
    for release in ("4.2.0", "foo", "5.3"):
        assert run(["defects", "A17", "--version", release]) == ExitCode.BAD_OPTION
        assert f"no release {release!r}" in capsys.readouterr().err


def test_a_list_plays_nothing_unless_it_is_asked_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        message = "played"
        raise scenarios_module.ScenarioError(message)

    monkeypatch.setattr(scenarios_module, "play", fails)
    assert told(capsys, "slave")["B24"]["broker"]
    assert run(["defects", "slave", "--play"]) == ExitCode.EVALUATION_ERROR
    assert "halfcheck: B24: played" in capsys.readouterr().err


def test_a_counterexample_is_a_line_a_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "B02"]) == ExitCode.OK
    out = capsys.readouterr().out
    steps = re.findall(r"^ +\d+ +\d+ +\w.*$", out, re.MULTILINE)
    assert len(steps) == 4
    assert re.search(r"^ +1 +0 +send_half .* \(and \d more\) *$", out, re.MULTILINE)


def test_a_list_is_there_at_once_as_it_loads_no_engine() -> None:
    script = """
import sys
from halfcheck.app import run
assert run(sys.argv[1:]) == 0
print(sorted({"numpy", "numba", "llvmlite", "networkx", "scipy", "pyarrow"} & set(sys.modules)))
"""
    for words in ([], ["磁盘"], ["--version", "5.3.3"]):
        command = [sys.executable, "-c", script, "defects", *words]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert out.splitlines()[-1] == "[]"


def test_two_releases_are_asked_of_a_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["defects", "4.9.7", "--version", "5.5.1"]) == ExitCode.BAD_OPTION
    assert capsys.readouterr().err == (
        "halfcheck: 4.9.7 --version 5.5.1: name one release, or ask halfcheck compare 4.9.7 5.5.1\n"
    )
    assert run(["defects", "5.5.1", "--version", "5.5.1"]) == ExitCode.OK
