"""What is staged on each broker: each kind of request, and once each guarantee that a plan says it may break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from model_check.world import Environment
from real_brokers.plan.stage import LONG_BATCH, MANY_CHECKS, SETTINGS, SUCCESS
from wire.client.transactions import COMMIT, ROLLBACK
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from real_brokers.plan.stage import PlanStage
    from wire.remoting.command import RemotingCommand

Facts = dict[str, str]


@dataclass(frozen=True, slots=True)
class StagedPlan:
    """What was staged.

    Attributes
    ----------
    title
        The decision, and the clause and faults as ``risks.toml`` has them; or what else it is.
    story
        What happened, in a sentence.
    seen
        Whether it went so.
    """

    title: str
    story: str
    seen: bool
    facts: Facts


_TRIES: Final = 3
WRITES: Final = {"RESUME_CHECK_HALF_MESSAGE", "END_TRANSACTION"}


def stagings(stage: PlanStage) -> Iterator[StagedPlan]:
    """All of them, on one broker: those that want a short op batch first, and its ends at the end."""
    stage.park("parked", "late", "undone", "twice")
    yield from _kinds(stage)
    yield from _resumed(stage)
    yield from _ended(stage)
    yield from _overtaken(stage)
    stage.set(LONG_BATCH | MANY_CHECKS)
    yield from _unsaved(stage)
    yield from _across_a_start(stage, "died", stage.broker.kill, faults=Environment.of(["crash"]))
    yield from _across_a_start(
        stage, "was stopped in order", stage.broker.restart, faults=Environment.of(["graceful_stop"])
    )


def _kinds(stage: PlanStage) -> Iterator[StagedPlan]:
    stage.pass_a_round()
    stage.lose("lost")
    stage.send("pending", "unwanted")
    stage.relay.requests.clear()
    before = stage.log_end
    stage.plan({"parked": "resume", "lost": "commit", "pending": "commit", "unwanted": "rollback"})
    after, asked = stage.log_end, dict(stage.relay.requests)
    yield StagedPlan(
        "plan",
        "A parked, a lost and two pending halves are planned for, and nothing is sent.",
        before == after and not WRITES & set(asked),
        {
            "commitLogMaxOffset before and after": f"{before} and {after}",
            "requests that passed the relay": ", ".join(f"{count} {name}" for name, count in sorted(asked.items())),
        },
    )
    stage.relay.requests.clear()
    stage.command("--yes")
    sent = stage.sent()
    written = {name: stage.relay.requests[name] for name in sorted(WRITES)}
    half = stage.check_of("parked")
    stage.answer(half, COMMIT)
    delivered = {key: stage.deliveries(key) for key in ("parked", "lost", "pending", "unwanted")}
    yield StagedPlan(
        "send",
        "Each kind of request is sent by --yes: a resume of the parked half, whose check is then answered with a "
        "commit, a commit of the lost and of a pending half, a rollback of the other one.",
        delivered == {"parked": 1, "lost": 1, "pending": 1, "unwanted": 0}
        and all(one["code"] == SUCCESS and one["seen"] for one in sent.values())
        and written == {"END_TRANSACTION": 3, "RESUME_CHECK_HALF_MESSAGE": 1},
        {
            "requests that write": ", ".join(f"{count} {name}" for name, count in written.items()),
            **{f"read back of {key}": one["seen"] for key, one in sent.items()},
            "deliveries": ", ".join(f"{key} {count}" for key, count in delivered.items()),
        },
    )


def _resumed(stage: PlanStage) -> Iterator[StagedPlan]:
    planned = stage.plan({"late": "resume", "undone": "resume", "twice": "resume"})
    stage.send_plan()
    late, undone = stage.end("late", COMMIT), stage.end("undone", ROLLBACK)
    again = stage.resume_again(planned["twice"])
    first = stage.copies("twice")
    stage.answer(stage.check_of("late"), COMMIT)
    asked = stage.check_of("undone")
    stage.check_of("twice")
    stage.check_of("twice")
    count, copies, most = stage.deliveries("late"), stage.copies("twice"), int(SETTINGS["transactionCheckMax"])
    yield StagedPlan(
        "resume S1.resumed_half resume_discarded",
        "A commit of the discarded half comes late, and the check of the resumed one is answered with a commit, too.",
        (late, count) == (SUCCESS, 2),
        {"answer to the late commit": str(late), "deliveries": str(count), "in the discard topic": _in(stage, "late")},
    )
    yield StagedPlan(
        "resume S9.second_half resume_discarded",
        "A late rollback of the discarded half is answered SUCCESS, and its producer is asked once more.",
        undone == SUCCESS,
        {"answer to the late rollback": str(undone), "half that the check names": str(asked.queue_offset)},
    )
    yield StagedPlan(
        "resume R1.too_many_copies resume_discarded",
        "The same half is resumed a second time: both copies are checked.",
        again == SUCCESS and copies > most + 1,
        {
            "copies in the half queue": f"{first} once it is resumed twice, {copies} behind a round; "
            f"transactionCheckMax is {most}",
            "checks that follow": "2",
        },
    )


def _ended(stage: PlanStage) -> Iterator[StagedPlan]:
    stage.pass_a_round()
    stage.send("undecided", "committed", "withdrawn")
    stage.plan({"undecided": "commit", "committed": "commit", "withdrawn": "rollback"})
    stage.send_plan()
    count = stage.deliveries("undecided")
    yield StagedPlan(
        "commit S3.not_decided wrong_end",
        "A half is committed whose producer never said anything.",
        count == 1,
        {"deliveries": str(count)},
    )
    code, count = stage.end("committed", COMMIT), stage.deliveries("committed")
    yield StagedPlan(
        "commit S1.doubled_request wrong_end",
        "Its producer's own commit comes besides.",
        (code, count) == (SUCCESS, 2),
        {"answer to the producer's commit": str(code), "deliveries": str(count)},
    )
    code, count = stage.end("withdrawn", COMMIT), stage.deliveries("withdrawn")
    yield StagedPlan(
        "rollback S2.commit_after_rollback wrong_end",
        "Its producer commits what was rolled back.",
        (code, count) == (SUCCESS, 1),
        {"answer to the producer's commit": str(code), "deliveries": str(count)},
    )


def _overtaken(stage: PlanStage) -> Iterator[StagedPlan]:
    """Something happens while END_TRANSACTION is on its way, behind the last look at the queues."""
    stage.pass_a_round()
    stage.send("overtaken")
    stage.plan({"overtaken": "commit"})
    _while_under_way(stage, lambda: stage.answer(stage.check_of("overtaken"), COMMIT))
    count = stage.deliveries("overtaken")
    yield StagedPlan(
        "commit S1.after_a_check wrong_end",
        "END_TRANSACTION is under way for so long that a round puts the half back, and the check of the copy is "
        "answered with a commit.",
        count == 2,
        {"deliveries": str(count)},
    )
    stage.send("aged")
    stage.wait_for(lambda: stage.copies("aged") > 1, "a round")
    stage.plan({"aged": "commit"})

    def grow_old() -> None:
        stage.broker.change({"transactionCheckMax": "1"})
        stage.wait_for(lambda: stage.discards("aged"), "a discard")

    _while_under_way(stage, grow_old)
    stage.broker.change({"transactionCheckMax": SETTINGS["transactionCheckMax"]})
    count = stage.deliveries("aged")
    yield StagedPlan(
        "commit S2.commit_after_discard quiet",
        "END_TRANSACTION is under way for so long that a round discards the half.",
        count == 1 and stage.discards("aged") == 1,
        {"deliveries": str(count), "in the discard topic": _in(stage, "aged")},
    )
    stage.pass_a_round()
    stage.send("unlucky")
    stage.plan({"unlucky": "rollback"})
    _while_under_way(stage, lambda: stage.end("unlucky", COMMIT))
    code, count = stage.sent()["unlucky"]["code"], stage.deliveries("unlucky")
    yield StagedPlan(
        "rollback S2.rollback_after_commit wrong_end",
        "Its producer's commit is carried out while the rollback is under way.",
        (code, count) == (SUCCESS, 1),
        {"answer to the rollback": str(code), "deliveries": str(count)},
    )


def _unsaved(stage: PlanStage) -> Iterator[StagedPlan]:
    """Op messages are written up to a minute late."""
    stage.pass_a_round()
    stage.send("revoked", "hasty")
    stage.plan({"revoked": "commit", "hasty": "commit"})
    code = stage.end("revoked", ROLLBACK)
    stage.send_plan(lambda: _answered(stage, "hasty"))
    count = stage.deliveries("revoked")
    yield StagedPlan(
        "commit S2.commit_after_rollback wrong_end",
        "Its producer's rollback is answered SUCCESS, and its op message is not stored yet when the queues are read.",
        (code, count) == (SUCCESS, 1),
        {"answer to the producer's rollback": str(code), "deliveries": str(count)},
    )
    count = stage.deliveries("hasty")
    yield StagedPlan(
        "commit S1.late_op quiet",
        "A round begins before the op message of the commit is stored, and the check is answered with a commit.",
        count == 2,
        {"deliveries": str(count)},
    )


def _across_a_start(
    stage: PlanStage, how: str, start_again: Callable[[], None], *, faults: Environment
) -> Iterator[StagedPlan]:
    """The broker ends and starts again before it has written the op messages; once more if it was too quick."""
    for number in range(_TRIES):
        committed, rolled_back = f"{faults.name}-c{number}", f"{faults.name}-r{number}"
        stage.pass_a_round()
        stage.send(committed, rolled_back)
        stage.plan({committed: "commit", rolled_back: "rollback"})

        def restart() -> None:
            start_again()
            stage.connect()

        if stage.send_plan(restart) is None:
            break
    codes = {key: one["code"] for key, one in stage.sent().items()}
    stage.answer(stage.check_of(committed), COMMIT)
    asked = stage.check_of(rolled_back)
    stage.answer(asked, ROLLBACK)
    count = stage.deliveries(committed)
    yield StagedPlan(
        f"commit S1.lost_op {faults.name}",
        f"The broker {how} before the op message of the commit was stored, and the check that follows is answered with "
        "a commit.",
        (codes[committed], count) == (SUCCESS, 2),
        {"answer": str(codes[committed]), "deliveries": str(count)},
    )
    yield StagedPlan(
        f"rollback S10.op_entry_dies_with_the_process {faults.name}",
        f"The broker {how} before the op message of the rollback was stored: its producer is asked again.",
        codes[rolled_back] == SUCCESS,
        {"answer": str(codes[rolled_back]), "half that the check names": str(asked.queue_offset)},
    )


def _answered(stage: PlanStage, key: str) -> None:
    stage.answer(stage.check_of(key), COMMIT)


def _while_under_way(stage: PlanStage, happens: Callable[[], object]) -> None:
    """Send what is decided; something happens between a request and its arrival."""

    def hold(command: RemotingCommand) -> None:
        if command.code == RequestCode.END_TRANSACTION:
            happens()

    stage.relay.before = hold
    stage.send_plan()
    stage.relay.before = lambda _: None


def _in(stage: PlanStage, key: str) -> str:
    return str(stage.discards(key))
