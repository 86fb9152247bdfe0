"""`halfcheck verify`: the whole job, small, from the search to the page."""

import inspect
import json
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from conformance.golden_stores import golden_store
from fuzz.mutants import kill_table
from fuzz.search import coverage
from halfcheck.app import run
from halfcheck.commands.verify import _explanation, _lockstep, _mutant, command
from halfcheck.errors import ExitCode
from halfcheck.verify import parts, verification
from halfcheck.verify.parts import begin
from halfcheck.verify.processes import ResultCache
from halfcheck.verify.verification import Verification
from halfcheck.verify.wrong_specifications import WRONG_SPECIFICATIONS
from model_check.world import Profile
from spark_trace_analysis.traces.manifest import source_fingerprint
from spec.profiles import VERSIONS

STORES = ("4.5.1/five", "4.9.7/crash2", "5.3.3/crash2", "5.3.3/immunity", "5.4.0/crash", "5.5.1/immunity")
"""A few of those that the main job explains."""

QUICKLY = STORES[:4]
"""Those of them that take a second at most."""

SEARCHED = ("4.9.7", "5.3.3")

PHASES = [
    "refuse", "search", "cross-check", "audit", "lockstep", "mutants", "simulate", "judge by kernels",
    "judge by expressions", "statistics", "states seen",
]  # fmt: skip
"""Those that fail soonest come first."""

pytestmark = pytest.mark.xdist_group(name="small")


@pytest.fixture
def few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two versions, some stores, a cross-check, ten schedules and some mutants, in this process."""
    stores = [golden_store(*name.split("/")) for name in STORES]
    monkeypatch.setattr(parts, "golden_stores", lambda: stores)
    monkeypatch.setattr(verification, "VERSIONS", SEARCHED)
    for name in ("versions", "distinct_versions"):
        monkeypatch.setattr(Profile, name, lambda: tuple(map(Profile.of, SEARCHED)))
    monkeypatch.setattr(parts, "EXAMPLES", 10)
    monkeypatch.setattr(kill_table, "MUTANTS", kill_table.MUTANTS[::26])
    monkeypatch.setattr(parts, "CROSS_CHECKED", parts.CROSS_CHECKED[:1])
    monkeypatch.setattr(coverage, "_COUNTED_FAULTS", dict.fromkeys(VERSIONS, ()))
    monkeypatch.setattr("model_check.processes.on_all_cores", lambda: nullcontext(map))


def as_json(job: Verification) -> list[object]:
    return [
        *map(_explanation, job.audits), *map(_lockstep, job.lockstep), *map(_mutant, job.mutants),
    ]  # fmt: skip


@pytest.mark.untraced
@pytest.mark.usefixtures("few_parts")
def test_what_the_parts_find_is_gathered_and_a_second_run_finds_it_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [golden_store(*name.split("/")) for name in QUICKLY]
    monkeypatch.setattr(parts, "golden_stores", lambda: stores)
    said: list[str] = []
    first, second = (Verification(seed=3, traces=800, work=tmp_path, say=said.append) for _ in range(2))
    first.gather(begin(ResultCache(tmp_path / "found", map), first.seed))
    assert [(audit.store, audit.trace.accepted) for audit in first.audits] == [(name, True) for name in QUICKLY]
    assert [(run.pairing.world.profile.name, run.examples, run.failure is None) for run in first.lockstep] == [
        (profile, 10, True) for profile in SEARCHED
    ]
    assert all(mutant.variable for mutant in first.mutants)
    assert first.found_before == 0
    (cross_check,) = first.notes
    assert cross_check.startswith("4.5.1 slow_local on tiny: the CPython search and the compiled search agree on ")
    second.gather(begin(ResultCache(tmp_path / "found", map), second.seed))
    assert second.found_before == 1 + len(QUICKLY) + len(SEARCHED) + 3
    assert as_json(second) == as_json(first)
    assert [audit.transactions for audit in second.audits] == [audit.transactions for audit in first.audits]
    assert second.notes[0] == cross_check
    assert second.notes[1].startswith(f"{second.found_before} cross-checks, audits, lockstep runs and hunts are those")


@pytest.mark.sweep
@pytest.mark.untraced
@pytest.mark.usefixtures("few_parts")
def test_the_main_job_writes_one_page_with_all_its_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "--traces", "800", "--seed", "3", "--json"]
    assert run([*words, "--out", str(tmp_path / "report"), "--work", str(tmp_path / "work")]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["traces"] == 800
    assert told["searches"] == 3 * len(SEARCHED)
    assert [(row["store"], row["accepted"]) for row in told["explained"]] == [(name, True) for name in STORES]
    assert {row["store"]: row["faults"] for row in told["explained"]}["5.3.3/crash2"] == {"crash": 1}
    assert [row["specification"] for row in told["refused"]] == [wrong.specification for wrong in WRONG_SPECIFICATIONS]
    assert [(row["profile"], row["examples"], row["agrees"]) for row in told["lockstep"]] == [
        (profile, 10, True) for profile in SEARCHED
    ]
    assert len(told["mutants"]) == 3
    assert all(row["variable"] for row in told["mutants"])
    assert list(told["seconds"]) == PHASES
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "halfcheck verify --traces 800 --seed 3" in page
    assert "S1.immune_half" in page
    assert "5.3.3/immunity" in page
    assert "halfcheck diff conformance/golden/5.4.0/crash spec:5.4.0" in page
    assert "halfcheck fuzz --profile 4.9.7 --examples 10 --steps 50 --seed 3" in page
    assert "halfcheck fuzz --mutants --seed 3" in page
    assert page.count("<svg") >= 4
    assert not re.findall(r"""(?:src|href)=["']https?:""", page)


def test_a_million_traces_are_simulated_when_no_number_is_given() -> None:
    assert inspect.signature(command).parameters["traces"].default == 1_000_000


def test_a_folder_of_traces_that_holds_something_else_is_refused_before_anything_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "work" / "traces" / source_fingerprint() / "5.5.1-crash-80-3"
    folder.mkdir(parents=True)
    (folder / "mine").write_text("mine")
    words = [
        "verify",
        "--traces",
        "960",
        "--seed",
        "3",
        "--out",
        str(tmp_path / "report"),
        "--work",
        str(tmp_path / "work"),
    ]
    assert run(words) == ExitCode.BAD_OPTION
    assert capsys.readouterr().err == (
        f"halfcheck: --out {folder}: there is something else in it already; give a new or empty folder\n"
    )


def test_an_out_that_is_a_file_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report"
    file.write_text("mine")
    assert run(["verify", "--traces", "960", "--out", str(file)]) == ExitCode.BAD_CONTENT
    assert file.read_text() == "mine"
    assert len(capsys.readouterr().err.splitlines()) == 1
