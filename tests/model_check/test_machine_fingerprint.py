from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from model_check import machine_fingerprint as machine_fingerprints
from model_check.instances import load_instance
from model_check.machine_fingerprint import fingerprint_of, machine_fingerprint
from model_check.verdicts.same_searches import faults_that_show
from model_check.world import NO_FAULTS, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path

    from spec.language import Machine

PROFILE, TINY, DEEP = Profile.of("5.3.3"), load_instance("tiny"), load_instance("deep")
CONSTANTS = World(PROFILE, NO_FAULTS, TINY).constants
MACHINE = TRANSACTIONAL_MESSAGES


@cache
def before() -> str:
    return fingerprint_of(MACHINE, CONSTANTS)


def test_what_the_profile_rules_out_does_not_count() -> None:
    """5.3.3 batches its op messages, and 4.9.7 writes one for each END_TRANSACTION."""
    without = replace(MACHINE, actions=tuple(one for one in MACHINE.actions if one.name != "write_op"))
    assert fingerprint_of(without, CONSTANTS) == before()
    of_another = World(Profile.of("4.9.7"), NO_FAULTS, TINY).constants
    assert fingerprint_of(without, of_another) != fingerprint_of(MACHINE, of_another)


@pytest.mark.parametrize(
    "changed",
    [
        replace(MACHINE, actions=MACHINE.actions[1:]),
        replace(MACHINE, actions=MACHINE.actions[::-1]),
        replace(MACHINE, clauses=MACHINE.clauses[1:]),
        replace(MACHINE, witnesses=MACHINE.witnesses[1:]),
        replace(MACHINE, symmetric=None),
        replace(MACHINE, queues={}),
    ],
    ids=["an action", "the order of actions", "a clause", "a witness", "symmetry", "queues"],
)
def test_what_a_search_asks_counts(changed: Machine) -> None:
    assert fingerprint_of(changed, CONSTANTS) != before()


def test_the_forgetting_counts_where_something_is_forgotten() -> None:
    lasting = World(PROFILE, NO_FAULTS, load_instance("lasting")).constants
    never = replace(MACHINE, forget=None)
    assert fingerprint_of(never, lasting) != fingerprint_of(MACHINE, lasting)


@pytest.mark.parametrize(
    ("name", "value"), [("timeout", 4), ("check_max", 3), ("half_slots", 4), ("round_limit", 4), ("skews", (1, 0))]
)
def test_sizes_and_times_count(name: str, value: Any) -> None:
    assert getattr(TINY, name) != value
    assert fingerprint_of(MACHINE, replace(CONSTANTS, **{name: value})) != before()


def test_faults_are_left_open_and_switches_are_not() -> None:
    assert fingerprint_of(MACHINE, replace(CONSTANTS, crash=True, retention=True)) == before()
    assert fingerprint_of(MACHINE, replace(CONSTANTS, batches_ops=False)) != before()


def test_a_fingerprint_is_found_again_as_long_as_nothing_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another process looks for it in the cache folder; one of another profile or instance has another place."""
    monkeypatch.setenv("HALFCHECK_CACHE", str(tmp_path))
    made = Mock(wraps=fingerprint_of)
    monkeypatch.setattr(machine_fingerprints, "fingerprint_of", made)
    found_anew = machine_fingerprint.__wrapped__
    assert [found_anew(PROFILE, TINY) for _ in range(2)] == [before()] * 2
    assert made.call_count == 1
    for profile, instance in ((Profile.of("4.9.7"), TINY), (PROFILE, DEEP)):
        assert found_anew(profile, instance) != before()
    assert made.call_count == 3


def test_profiles_that_do_the_same_whatever_goes_wrong_have_the_same() -> None:
    older, newer = Profile.of("5.5.0"), Profile.of("5.5.1")
    for instance in (TINY, DEEP):
        differs = bool(faults_that_show(("resets_lower_end",), older, instance)) and instance.expires
        assert (machine_fingerprint(older, instance) != machine_fingerprint(newer, instance)) == differs
