"""The exported module as a reader of TLA+ finds it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from benchmarks.machines import two_phase_commit
from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT
from benchmarks.tlc import jar, java_with_folder
from model_check.tla.module import TlaModule, export, write_export
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.tla import forgetful_machine
from tests.model_check.tla.awkward_machine import AWKWARD, Constants
from tests.model_check.tla.comparison import SHORT_RUN
from tests.model_check.tla.forgetful_machine import FORGETFUL

if TYPE_CHECKING:
    from pathlib import Path


def export_protocol() -> TlaModule:
    return export(TRANSACTIONAL_MESSAGES, World.of("5.3.3", ["crash"], "tiny").constants, (), "tiny")


@pytest.fixture(scope="module")
def protocol() -> TlaModule:
    return export_protocol()


def run_sany(folder: Path, name: str) -> str:
    """What the parser of TLA+ says of a module, without the lines that name the files it reads."""
    with tempfile.TemporaryDirectory(prefix="sany_") as own:
        command = [*java_with_folder(own), *SHORT_RUN, "-cp", str(jar()), "tla2sany.SANY", f"{name}.tla"]
        finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    told = (finished.stdout + finished.stderr).splitlines()
    return "\n".join(
        line for line in told if line and not line.startswith(("Parsing file", "Semantic processing", "****"))
    )


def definition(exported: TlaModule, name: str) -> str:
    """One definition, without the comments in front of it and the variables that it leaves as they are."""
    lines = exported.module.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith((f"{name} ==", f"{name}(")))
    end = next(i for i in range(start, len(lines)) if not lines[i])
    return "\n".join(lines[start:end]).split("\n    /\\ UNCHANGED")[0]


def test_an_action_keeps_its_rules_in_words_and_its_calls(protocol: TlaModule) -> None:
    assert (
        definition(protocol, "SetHalfOffsetBack")
        == r"""
SetHalfOffsetBack(h) ==
    \* no round runs
    /\ ~round.running
    \* it was there before
    /\ h < offsets.half
    \* environment: offsets do not go back
    /\ OFFSET_REGRESSION
    /\ WithinReach(h, offsets.half)
    /\ RoomForAMishap
    /\ mishaps' = mishaps + 1
    /\ offsets' = [offsets EXCEPT !.half = h]
""".strip("\n")
    )


def test_a_loop_whose_turns_keep_apart_is_a_function(protocol: TlaModule) -> None:
    assert (
        definition(protocol, "StartAgain")
        == r"""
StartAgain ==
    /\ DropBatch
    /\ ForgetRound
    /\ FindLowerEnds
    /\ role' = "MASTER"
    /\ half' = [h \in HalfSlots |->
                   [half[h] EXCEPT
                       !.check_in_flight = FALSE,
                       !.end = "NONE",
                       !.other_end = "NONE",
                       !.claims_check = FALSE]]
    /\ round_ended_at' = Now
    /\ offsets' = [offsets EXCEPT !.half = saved.half, !.op = saved.op]
    /\ unsaved' = 0
""".strip("\n")
    )


def test_a_loop_whose_turns_build_on_each_other_is_a_recursive_function() -> None:
    assert r"""
    /\ LET after_i[i \in Cells] ==
               IF i = 0
               THEN cell
               ELSE LET before_i == after_i[i - 1]
                    IN  [before_i EXCEPT ![i].number = before_i[i - 1].number]
""" in definition(export(AWKWARD, Constants()), "Shift")


def test_a_claim_that_is_stored_is_one_value() -> None:
    assert r"/\ is_odd' = (total = 1 \/ ~is_odd)" in definition(export(AWKWARD, Constants()), "Shift")


def test_a_predicate_is_an_operator_with_its_own_name(protocol: TlaModule) -> None:
    assert definition(protocol, "IsYoung") == (
        r"IsYoung(h) == Age(h) < Immunity(h) \/ (EQUAL_AGE_IS_YOUNG /\ Age(h) = Immunity(h))"
    )


def test_an_action_says_what_it_models(protocol: TlaModule) -> None:
    assert "\\* RocketMQ: SendMessageRequestHeader.bornTimestamp.\nSendHalfByAnotherClock(t, immunity, skew) ==" in (
        protocol.module
    )


def test_derived_constants_follow_from_those_that_are_given(protocol: TlaModule) -> None:
    assert "\nBIRTH_CUT == Max({TIMEOUT, LONGEST_IMMUNITY, RESERVED_TIME}) + 1\n" in protocol.module
    assert "    IMMUNITIES = {3}\n    IMMUNITIES_NEGATED = {1}\n" in protocol.config
    assert "HORIZON" not in protocol.config


def test_one_module_serves_all_instances_profiles_and_environments(protocol: TlaModule) -> None:
    exported = export(TRANSACTIONAL_MESSAGES, World.of("4.5.1", ["slow_local"], "odd").constants)
    assert exported.module == protocol.module
    assert exported.config != protocol.config


def test_the_parser_of_tla_has_nothing_to_say(tmp_path: Path, protocol: TlaModule) -> None:
    sizes = two_phase_commit.Constants(resource_managers=3)
    forgetful = export(FORGETFUL, forgetful_machine.Constants())
    for exported in (protocol, forgetful, export(TWO_PHASE_COMMIT, sizes), export(AWKWARD, Constants())):
        write_export(exported, tmp_path)
        assert run_sany(tmp_path, exported.name) == ""


def test_the_parser_of_tla_is_heard(tmp_path: Path, protocol: TlaModule) -> None:
    broken = TlaModule(protocol.name, protocol.module.replace("HasImmunity(h) ==", "HadImmunity(h) =="), "")
    write_export(broken, tmp_path)
    assert "Unknown operator: `HasImmunity'" in run_sany(tmp_path, broken.name)


def test_every_process_writes_the_same_bytes(tmp_path: Path, protocol: TlaModule) -> None:
    """Also one that hashes texts in a way of its own."""
    program = (
        "import sys; from pathlib import Path; from tests.model_check.tla import test_text\n"
        "test_text.write_export(test_text.export_protocol(), Path(sys.argv[1]))\n"
    )
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    write_export(protocol, here)
    command = [sys.executable, "-c", program, str(there)]
    subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "1"}, check=True, capture_output=True)
    texts = ["".join(path.read_text() for path in sorted(folder.iterdir())) for folder in (here, there)]
    assert len(texts[0]) > 10_000
    assert texts[0] == texts[1]
