"""What no broker can keep: each run of docs/impossibility.md is taken, and the page has all that `fixed` breaks."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fuzz.lockstep.refinement_mapping import LEFT_ALONE
from model_check.counterexample.steps import read_path, replay
from model_check.front_end.source import declared_fields
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES as MACHINE
from tests.model_check.indistinguishable.seen import Broker, history
from tests.model_check.indistinguishable.twin import find_twin

if TYPE_CHECKING:
    from spec.constants import Constants
    from spec.language import Property, Step
    from tests.model_check.indistinguishable.seen import Sight

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/impossibility.md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Run:
    """One row of the page."""

    clause: str
    fault: str
    profile: str
    instance: str
    steps: str
    breaks: str

    def constants(self) -> Constants:
        instance, _, fault = self.instance.partition(", ")
        faults = [fault] if fault else [self.fault] if self.fault != "quiet" else []
        return World.of(self.profile, faults, instance).constants

    def path(self) -> list[Step]:
        return read_path(MACHINE, self.constants(), self.steps)


SECTIONS: dict[tuple[str, str], list[Run]] = {
    (clause, fault): [
        Run(clause, fault, *row)
        for row in re.findall(r"^\| (fixed\S*) \| ([^|]+?) \| `([^`]+)` \| ?([\w.]*) \|$", text, re.MULTILINE)
    ]
    for clause, fault, text in re.findall(r"^## (\w+\.\w+): (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
RUNS = [run for runs in SECTIONS.values() for run in runs]
TWINS = [(runs[0], runs[1]) for runs in SECTIONS.values() if len(runs) > 1 and not runs[1].breaks]


def clause_called(name: str) -> Property:
    return next(clause for clause in MACHINE.clauses if name_of(clause) == name)


def name_of(clause: Property) -> str:
    return f"{clause.identifier}.{clause.clause}"


@cache
def broker(instance: str) -> Broker:
    return Broker(MACHINE, World.of("fixed", [], instance).constants)


def seen(profile: str, fault: str, steps: str) -> list[Sight]:
    constants = World.of(profile, [fault] if fault else [], "tiny").constants
    path = read_path(MACHINE, constants, steps)
    return history(broker("tiny"), MACHINE.initial(constants), constants, path)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.clause}-{run.fault}-{run.profile}-{run.breaks}")
def test_each_run_breaks_what_the_page_says(run: Run) -> None:
    replayed = replay(MACHINE, run.constants(), run.path())
    violated = {name_of(clause) for clause in replayed.violated}
    assert run.breaks in violated if run.breaks else run.clause not in violated


@pytest.mark.parametrize(("one", "other"), TWINS, ids=lambda run: run.clause)
def test_the_broker_cannot_tell_the_two_worlds_apart_and_a_search_finds_the_second(one: Run, other: Run) -> None:
    constants, view = one.constants(), broker(one.instance)
    first, second = (history(view, MACHINE.initial(constants), constants, run.path()) for run in (one, other))
    assert first == second
    twin = find_twin(MACHINE, constants, view, one.path(), clause_called(one.clause))
    assert twin is not None
    assert "; ".join(map(str, twin)) == other.steps


def test_three_sections_have_such_worlds_and_all_others_a_run_of_fixed_that_breaks_the_clause() -> None:
    assert [one.clause for one, _ in TWINS] == ["S3.not_decided", "L5.end_lost", "L5.never_run"]
    for (clause, _), runs in SECTIONS.items():
        assert (runs[0].profile, runs[0].breaks) == ("fixed", clause)


def test_the_page_speaks_of_every_clause_that_fixed_breaks_in_the_quiet_world_or_by_one_fault() -> None:
    table = tomllib.loads((ROOT / "model_check/verdicts/results/verdicts.toml").read_text(encoding="utf-8"))
    broken: dict[str, set[str]] = {}
    for environments in table["verdicts"]["fixed"].values():
        for environment, found in environments.items():
            for clause in found.get("violated", {}) if "," not in environment else ():
                broken.setdefault(clause, set()).add(environment)
    minimal = {
        (clause, fault) for clause, faults in broken.items() for fault in ({"quiet"} if "quiet" in faults else faults)
    }
    assert set(SECTIONS) == minimal


def test_a_broker_does_not_see_what_producers_know_what_is_under_way_and_what_only_properties_remember() -> None:
    fields = {".".join(path) for path, *_ in declared_fields(MACHINE.state)}
    unseen = fields - {".".join(path) for path in broker("tiny").fields}
    ghosts = {name for name, why in LEFT_ALONE.items() if why.startswith("a ghost")}
    assert unseen >= {"transaction.local", "half.end", "half.other_end", "half.check_in_flight", "half.claims_check"}
    assert ghosts - unseen == {"transaction.rolled_back", "half.left"}, "a repaired broker asks for these"
    # of what the lockstep compares with a real broker, it does not see what the driver's network and producers hold
    assert unseen - set(LEFT_ALONE) == {
        "clock_steps", "stray_ends", "crashes", "transaction.local", "half.check_in_flight", "half.end",
        "half.other_end", "half.claims_check", "half.settled", "half.op_write_failed", "half.foreign",
        "batch.waiting_since", "half.known_to",
    }  # fmt: skip


SENT = "send_half t=0 immunity=-1; "


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("fixed", "", SENT + "commit_locally t=0; store_real_message h=0"),
            ("fixed", "", SENT + "roll_back_locally t=0"),
        ),
        (("fixed", "", SENT + "tick"), ("fixed", "", SENT[:-2])),
        (("fixed", "", SENT[:-2]), ("fixed", "", "send_half t=0 immunity=3")),
        (
            ("fixed", "role_change", SENT + "commit_locally t=0; become_slave; refuse_end_as_slave h=0"),
            ("fixed", "role_change", SENT + "roll_back_locally t=0; become_slave; refuse_end_as_slave h=0"),
        ),
    ],
    ids=["a delivery", "time", "an immunity", "what a request says that it refuses"],
)
def test_a_broker_does_tell_apart(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert seen(*one) != seen(*other)


def test_a_run_that_shows_its_truth_has_no_twin() -> None:
    constants = World.of("fixed", ["undecodable_half"], "tiny").constants
    steps = "send_undecodable_half t=0 immunity=-1; commit_locally t=0; refuse_unreadable h=0"
    path = read_path(MACHINE, constants, steps)
    assert find_twin(MACHINE, constants, broker("tiny"), path, clause_called("L5.refused")) is None
