from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from model_check.answers.answer import answer_of
from model_check.check import check
from model_check.clauses import chosen_clauses, name_of
from model_check.engines import COMPILED, CPYTHON, ENGINES, Z3
from model_check.errors import ModelCheckError
from model_check.explicit.state_store.resources import Resources
from model_check.finding import Verdict
from model_check.question import Means, Question
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked

if TYPE_CHECKING:
    from model_check.explicit.search import Progress


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_properties_and_clauses_are_chosen_by_their_ids_in_the_order_of_the_machine() -> None:
    def names(*wanted: str) -> list[str]:
        return [name_of(clause) for clause in chosen_clauses(wanted)]

    assert names() == [f"{c.identifier}.{c.clause}" for c in TRANSACTIONAL_MESSAGES.clauses]
    assert names("S10", "S2") == [
        "S2.commit_after_rollback",
        "S2.rollback_after_commit",
        "S2.commit_after_discard",
        "S10.op_entry_dies_with_the_process",
        "S10.op_entry_not_stored",
    ]
    assert names("S1.late_op", "S1.immune_half", "S1.late_op") == ["S1.immune_half", "S1.late_op"]


def test_unknown_properties_and_engines_are_answered_with_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        ModelCheckError, match=r"^no property 'X9'; there are S1, S2, S3, S4, .*, L5, R1, and clauses such as S1\."
    ):
        Question.of("5.3.3", properties=["X9"])
    assert run(["check", "--instance", "tiny", "--engine", "pypy"]) == ExitCode.BAD_OPTION
    assert capsys.readouterr().err == "halfcheck: no engine 'pypy'; there are numba, cpython, z3, fingerprints\n"


def test_an_engine_says_itself_what_it_cannot_be_asked() -> None:
    """No verdict of a search that left something out."""
    question, disk = Question.of("5.3.3"), Resources(spill=False)
    endless = Question.of("5.3.3", instance="lasting")
    for engine, asked, means, said in (
        (COMPILED, question, Means(threads=0), "0 threads: give at least one"),
        (CPYTHON, question, Means(resources=disk), "the engine cpython knows no memory limit, disk, checkpoint or "),
        (Z3, question, Means(resources=disk), "the engine z3 knows no memory limit, disk, checkpoint or fingerprints"),
        (Z3, replace(question, most_steps=-1), Means(), "-1 steps: give no negative number of steps"),
        (Z3, replace(question, coverage=True), Means(), "coverage is counted over states, and the engine z3 stores "),
        (Z3, endless, Means(), "the instance forgets what is over, and the engine z3 knows nothing of that; ask numba"),
    ):
        assert engine.refuses(question) == ""
        with pytest.raises(ModelCheckError, match=f"^{said}"):
            check(asked, engine, **means)


def test_a_property_may_be_written_small_and_one_that_is_misspelt_is_guessed() -> None:
    names = [name_of(clause) for clause in chosen_clauses(["s1.Immune_Half", "s10"])]
    assert names == ["S1.immune_half", "S10.op_entry_dies_with_the_process", "S10.op_entry_not_stored"]
    for wrong, likely in (
        ("S1.imune_half", "S1.immune_half"),
        ("immune_half", "S1.immune_half or S9.immune_half"),
        ("S1.lostop", "S1.lost_op"),
    ):
        with pytest.raises(ModelCheckError, match=rf"^no property '{wrong}'; did you mean {likely}\? There are S1, S2"):
            chosen_clauses([wrong])


def test_only_the_chosen_clauses_are_judged() -> None:
    result = check(Question.of("5.3.3", (), "tiny", properties=["S1.immune_half", "S10"]))
    assert [(r.clause.clause, r.verdict) for r in result.rows] == [
        ("immune_half", Verdict.VIOLATED),
        ("op_entry_dies_with_the_process", Verdict.HOLDS),
        ("op_entry_not_stored", Verdict.HOLDS),
    ]


@pytest.mark.parametrize("engine", ["numba", "cpython"])
def test_a_search_that_is_cut_short_finds_violations_but_no_absence(engine: str) -> None:
    result = check(Question.of("5.3.3", ("crash",), "tiny", most_states=1_000), ENGINES[engine])
    assert not result.numbers.complete
    verdicts = {r.clause.clause: r.verdict for r in result.rows}
    assert verdicts["op_entry_dies_with_the_process"] is Verdict.VIOLATED
    assert verdicts["unexplained"] is Verdict.UNKNOWN
    assert set(verdicts.values()) == {Verdict.VIOLATED, Verdict.UNKNOWN}
    assert result.to_json()["properties"]["S2"]["verdict"] == "unknown"


def test_the_result_as_plain_data_has_the_keys_that_scripts_rely_on() -> None:
    result = checked("5.3.3", "crash", "tiny")
    data = json.loads(json.dumps(result.to_json()))
    assert {
        "profile", "environment", "instance", "properties", "distinct", "generated", "depth", "complete", "seconds",
        "states_per_second", "peak_bytes",
    } <= set(data)  # fmt: skip
    assert (data["profile"], data["environment"], data["complete"]) == ("5.3.3", ["crash"], True)
    assert data["instance"] == {"name": "tiny", "transactions": 1, "half_slots": 3, "op_slots": 2}
    assert list(data["properties"]) == [*(f"S{n}" for n in range(1, 11)), *(f"L{n}" for n in range(1, 6)), "R1"]
    honest = data["properties"]["S10"]
    shown = (honest["verdict"], honest["depth"], honest["clause"], honest["resembles"])
    assert shown == ("violated", 4, "op_entry_dies_with_the_process", [])
    assert answer_of(result).to_json()["properties"]["S10"]["resembles"] == ["B02"], "an answer names the defects"
    assert [event["action"] for event in honest["trace"]] == ["send_half", "roll_back_locally", "buffer_op", "crash"]
    holding = data["properties"]["S5"]
    assert (holding["verdict"], holding["depth"], holding["clause"], holding["trace"]) == ("holds", None, None, [])
    assert result.violated
    assert data["peak_bytes"] > 8 * result.numbers.distinct


def test_the_trace_of_a_property_is_the_shortest_of_its_clauses() -> None:
    data = checked("5.3.3", "quiet", "tiny").to_json()["properties"]["S1"]
    depths = {name: clause["depth"] for name, clause in data["clauses"].items() if clause["depth"] is not None}
    assert data["depth"] == min(depths.values()) == len(data["trace"])
    assert data["clause"] == min(depths, key=depths.__getitem__)


def test_the_cpython_engine_reports_its_progress_too() -> None:
    seen: list[Progress] = []
    check(Question.of("4.9.7", (), "tiny", most_states=1_000), CPYTHON, report=seen.append)
    assert len(seen) > 2
    assert seen[0].distinct < seen[-1].distinct
