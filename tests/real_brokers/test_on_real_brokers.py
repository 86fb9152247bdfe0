"""What was seen on real brokers is kept for every counterexample, and the page is made from that."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from halfcheck.errors import ExitCode
from halfcheck.verdicts.files import VerdictFiles
from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.world import Profile
from real_brokers.probe import __main__ as probe_real
from real_brokers.probe import replay as replay_on_real
from real_brokers.probe.outcomes import (
    PAGE,
    RELEASES,
    ReplayOutcome,
    Task,
    page_of,
    read_replays,
    table_of,
    tasks_of,
)
from real_brokers.probe.replay import WrittenRecords, settings_for, written_by_schedule, written_in
from real_brokers.rocketmq_rust import __main__ as probe_rust

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@pytest.fixture(scope="module")
def tasks() -> dict[tuple[str, str, str], Task]:
    return {task.key: task for release in RELEASES for task in tasks_of(release)[0]}


def test_each_counterexample_of_the_five_releases_has_its_row() -> None:
    rows = Counter(replay.release for replay in table_of(read_replays()))
    assert rows == {release: len(VerdictFiles().counterexamples(Profile.of(release))) for release in RELEASES}


def test_none_is_contradicted_and_at_least_sixty_are_seen() -> None:
    outcomes = Counter(replay.outcome for replay in table_of(read_replays()))
    assert outcomes[ReplayOutcome.CONTRADICTED] == 0
    assert outcomes[ReplayOutcome.SEEN] >= 60


def test_the_page_is_that_of_what_was_played() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of(list(table_of(read_replays())))


def test_a_schedule_has_the_settings_in_which_its_ticks_are_as_long_as_its_instance_wants(
    tasks: dict[tuple[str, str, str], Task],
) -> None:
    assert dict(settings_for(tasks["5.3.3", "S1.immune_half", "quiet"])) == {
        "transactionCheckInterval": "3000",
        "transactionTimeOut": "2000",
        "transactionCheckMax": "2",
        "transactionOpBatchInterval": "5000",
    }
    assert dict(settings_for(tasks["5.3.3", "S1.doubled_request", "wrong_end"]))["transactionTimeOut"] == "1000"


def test_a_schedule_was_played_to_the_letter_if_its_records_come_first(
    tasks: dict[tuple[str, str, str], Task],
) -> None:
    written = written_by_schedule(tasks["5.3.3", "S1.immune_half", "quiet"])
    assert written == WrittenRecords(
        (("half", 0), ("half", 0), ("delivered", 0), ("half", 0), ("delivered", 2)), frozenset()
    )
    events = [
        ObservedEvent(kind=EventKind.HALF_STORED, time=1, transaction=0, half=0),
        ObservedEvent(kind=EventKind.PUT_BACK, time=2, transaction=0, half=1),
        ObservedEvent(kind=EventKind.DELIVERED, time=3, transaction=0, half=0),
        ObservedEvent(kind=EventKind.PUT_BACK, time=4, transaction=0, half=2),
        ObservedEvent(kind=EventKind.DELIVERED, time=5, transaction=0, half=2),
        ObservedEvent(kind=EventKind.OP_STORED, time=6, op=0, names=(0, 2)),
    ]
    assert written_in(Trace(tuple(events))).begins_with(written)
    assert not written_in(Trace((*events[:3], events[1], *events[3:]))).begins_with(written)


@pytest.mark.parametrize(
    ("main", "words", "named"),
    [
        (probe_real.main, ["5.3.3", "--examples", "many"], "'many'"),
        (replay_on_real.main, ["--release", "9"], "'9'"),
        (probe_rust.main, ["--difference", "none"], "'none'"),
    ],
    ids=["probe-real", "replay-on-real", "probe-rust"],
)
def test_a_bad_option_is_one_line(
    main: Callable[[Sequence[str]], int], words: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == ExitCode.BAD_OPTION
    (line,) = capsys.readouterr().err.splitlines()
    assert named in line
