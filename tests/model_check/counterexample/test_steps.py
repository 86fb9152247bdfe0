from __future__ import annotations

import pytest

from model_check.counterexample.steps import read_path, replay, write_path
from model_check.errors import ModelCheckError
from model_check.world import Environment, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked

LOST_ACKNOWLEDGEMENT = "send_half t=0 immunity=-1; roll_back_locally t=0; buffer_op h=0; crash"


def test_a_path_survives_writing_and_reading() -> None:
    constants = World.of("5.3.3", ("crash",), "tiny").constants
    path = read_path(TRANSACTIONAL_MESSAGES, constants, LOST_ACKNOWLEDGEMENT)
    assert write_path(path) == LOST_ACKNOWLEDGEMENT
    assert read_path(TRANSACTIONAL_MESSAGES, constants, f" {LOST_ACKNOWLEDGEMENT} ;; ") == path


def test_a_replay_shows_only_what_each_step_changed() -> None:
    constants = World.of("5.3.3", ("crash",), "tiny").constants
    replayed = replay(
        TRANSACTIONAL_MESSAGES, constants, read_path(TRANSACTIONAL_MESSAGES, constants, LOST_ACKNOWLEDGEMENT)
    )
    assert [event.number for event in replayed.events] == [1, 2, 3, 4]
    assert [str(change) for change in replayed.events[1].changes] == [
        "transaction[0].local: executing → rollback",
        "half[0].end: none → rollback",
    ]
    assert [str(change) for change in replayed.events[2].changes] == [
        "transaction[0].rolled_back: no → undelivered",
        "transaction[0].quiet: no → ended",
        "half[0].end: rollback → none",
        "half[0].settled: no → rolled_back",
        "half[0].acknowledged: no → yes",
        "batch.names: {} → {0}",
        "batch.is_open: no → yes",
        "batch.waiting_since: long ago → tick 0",
        "batch.written_at: long ago → tick 0",
    ]
    assert [clause.clause for clause in replayed.violated] == ["op_entry_dies_with_the_process"]
    assert [witness.name for witness in replayed.witnessed] == [
        "a_half_is_stored_and_not_visible",
        "a_rollback_is_acknowledged",
        "a_half_is_settled_by_its_own_end",
        "an_end_is_acknowledged_in_time",
    ]


def test_an_event_as_plain_data_names_action_parameters_time_and_changes() -> None:
    constants = World.of("5.3.3", (), "tiny").constants
    path = read_path(TRANSACTIONAL_MESSAGES, constants, "tick; send_half t=0 immunity=3")
    assert replay(TRANSACTIONAL_MESSAGES, constants, path).events[1].to_json() == {
        "step": 2,
        "action": "send_half",
        "parameters": {"t": 0, "immunity": 3},
        "event": "half_stored",
        "time": 1,
        "changes": {
            "transaction[0].local": ["not_sent", "executing"],
            "transaction[0].immunity": ["-", "3"],
            "transaction[0].first_half": ["-", "0"],
            "half[0].born_at": ["long ago", "tick 1"],
            "half[0].stored_at": ["long ago", "tick 1"],
            "half_length": ["0", "1"],
        },
    }


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("commit_locally t=0", r"step 1, commit_locally t=0, is refused \(require\): the local transaction runs"),
        ("tick; crash", r"step 2, crash, is refused \(assume\): the broker's process does not die"),
        (
            "send_half t=0 immunity=-1; send_half t=0 immunity=-1",
            r"step 2, send_half t=0 immunity=-1, is refused \(require\): the transaction was not sent yet",
        ),
    ],
)
def test_a_refused_step_names_its_number_the_step_and_the_conjunct(path: str, complaint: str) -> None:
    constants = World.of("5.3.3", (), "tiny").constants
    steps = read_path(TRANSACTIONAL_MESSAGES, constants, path)
    with pytest.raises(ModelCheckError, match=f"^{complaint}$"):
        replay(TRANSACTIONAL_MESSAGES, constants, steps)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "send_half t=0 immunity=-1; send_half t=1 immunity=-1",
            r"step 2 is 'send_half t=1 immunity=-1', which is no step",
        ),
        ("send_half t=0 immunity=2", r"there are send_half t=0 immunity=-1, send_half t=0 immunity=3$"),
        ("tick; tik", r"step 2 is 'tik', which is no step of this instance; did you mean tick\?$"),
        ("explode", r"step 1 is 'explode', which is no step of this instance; no action has that name$"),
        (" ; ", r"^no steps are given"),
        ("", r"^no steps are given"),
    ],
)
def test_a_path_that_means_nothing_is_refused_with_what_there_is(text: str, complaint: str) -> None:
    with pytest.raises(ModelCheckError, match=complaint):
        read_path(TRANSACTIONAL_MESSAGES, World.of("5.3.3", (), "tiny").constants, text)


@pytest.mark.parametrize(
    ("profile", "environment", "instance"),
    [("5.3.3", "quiet", "tiny"), ("5.3.3", "crash", "tiny"), ("4.5.1", "slow_local", "tiny")],
)
def test_every_counterexample_of_a_check_survives_its_text_and_replays(
    profile: str, environment: str, instance: str
) -> None:
    finding = checked(profile, environment, instance)
    assert finding.violated
    for clause, row in finding.violated.items():
        constants = row.world.constants
        assert constants == World.of(profile, Environment.named(environment), instance).constants
        path = read_path(TRANSACTIONAL_MESSAGES, constants, row.steps)
        assert tuple(path) == row.path
        assert clause in replay(TRANSACTIONAL_MESSAGES, constants, path).violated
        assert clause not in replay(TRANSACTIONAL_MESSAGES, constants, path[:-1]).violated
        assert f'--steps "{write_path(path)}"' in row.command
