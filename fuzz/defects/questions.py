"""Questions of single defects that are put to RocketMQ's own classes, with no reference broker beside them.

What turns on how often a thread reads its clock, on how busy it is, or on a client, has no answer that the reference
broker could predict. Each question is asked of a release that has the defect and of one that has not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import getsource
from textwrap import dedent
from typing import TYPE_CHECKING, Final

from fuzz.broker_side.producers import CHANNEL, GROUP, TOPIC
from fuzz.lockstep.real_replays import RealOutcome, RealReplay
from model_check.defects.findings import digits_of
from model_check.fingerprint import meaning_of
from reference.broker.broker_settings import BrokerSettings
from reference.store.message_store_config import MessageStoreConfig
from spec.releases.broker_defaults import defaults_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.java.real_classes import RealClasses

Put = Callable[["RealClasses"], bool]
"""Puts a question to the classes of a release; gives whether they show the defect."""

_NOW_MS: Final = 1_700_000_000_000
_COMMIT: Final = 8
_HOUR_S: Final = 3_600
_SETTINGS: Final = BrokerSettings()


@dataclass(frozen=True, slots=True)
class DefectQuestionOfClasses:
    """A question with the releases that have the defect, and one that has not."""

    identifier: str
    put: Put
    releases: tuple[str, ...]
    gone_in: str

    @property
    def digits(self) -> str:
        """What is asked, in digits."""
        return digits_of(meaning_of(dedent(getsource(self.put))))

    def replay(self, real: RealClasses) -> RealReplay:
        """Put it to the classes of a release."""
        wanted = real.release in self.releases
        if self.put(real) == wanted:
            return RealReplay(real.release, RealOutcome.TAKEN, 1)
        said = "it does not show the defect" if wanted else "it shows the defect, and should not"
        return RealReplay(real.release, RealOutcome.DIFFERENT, 0, said)


def question(identifier: str, releases: str, *, gone_in: str) -> Callable[[Put], DefectQuestionOfClasses]:
    """Make a question of a function that puts it."""
    return lambda put: DefectQuestionOfClasses(identifier, put, tuple(releases.split()), gone_in)


@cache
def questions() -> Mapping[str, DefectQuestionOfClasses]:
    """All questions, by the ids of their defects."""
    found = [value for value in globals().values() if isinstance(value, DefectQuestionOfClasses)]
    return {each.identifier: each for each in found}


def opened(real: RealClasses, *, batch_interval_ms: int | None = None) -> None:
    """A broker of the release's defaults on an empty store, with a producer."""
    of = defaults_of(real.release)
    real.ask_or_raise(
        "open",
        root=real.folder,
        topic=TOPIC,
        now=_NOW_MS,
        checkInterval=of["transactionCheckInterval"],
        timeout=of["transactionTimeOut"],
        checkMax=of["transactionCheckMax"],
        batchInterval=of["transactionOpBatchInterval"] if batch_interval_ms is None else batch_interval_ms,
        batchSize=of["transactionOpMsgMaxSize"],
        timeLimit=_SETTINGS.max_process_time_limit_ms,
        pullNums=_SETTINGS.op_msg_pull_nums,
        reservedTime=of["fileReservedTime"],
        reservedUnit=_HOUR_S,
        logFile=1 << 20,
        queueFile=MessageStoreConfig().mapped_file_size_consume_queue,
    )
    real.ask_or_raise("connect", group=GROUP, client=CHANNEL)


def sent_half(real: RealClasses, born: int, topic: str = TOPIC, queue: int = 0, **properties: str) -> None:
    """A half that a producer sends."""
    given = {"TRAN_MSG": "true", "PGROUP": GROUP, "UNIQ_KEY": "K0", **properties}
    text = "".join(f"{name}\x01{value}\x02" for name, value in given.items())
    real.ask_or_raise(
        "send", group=GROUP, topic=topic, queue=queue, sysFlag=0, born=born, flag=0, properties=text,
        reconsumeTimes=0, body=b"body".hex(), client=CHANNEL,
    )  # fmt: skip
    real.ask_or_raise("dispatch")


def checks_of_a_round(real: RealClasses) -> int:
    """Let a round run to its end; gives how many check requests it sent."""
    found, (at, *_) = 0, real.ask_or_raise("begin round")
    while at != "over":
        at, *state = real.ask_or_raise("pass")
        found += bool(state[-1])
        real.ask_or_raise("dispatch")
    return found


_PHASES: Final = 60
_IMMUNITY_S: Final = 100
_INTERVAL_MS: Final = 60_000


@question("A01", "4.3.2", gone_in="4.5.1")
def end_of_an_immunity(real: RealClasses) -> bool:
    """At sixty moments around the end of a half's immunity a round meets it, whose clock goes on as it is read."""
    lost = 0
    for phase in range(_PHASES):
        opened(real)
        sent_half(real, _NOW_MS, CHECK_IMMUNITY_TIME_IN_SECONDS=str(_IMMUNITY_S))
        real.ask_or_raise("advance", ms=_IMMUNITY_S * 1_000 - _PHASES + phase)
        real.ask_or_raise("creep", ms=1)
        checks = checks_of_a_round(real)
        real.ask_or_raise("creep", ms=0)
        for _ in range(2):
            real.ask_or_raise("advance", ms=_INTERVAL_MS)
            checks += checks_of_a_round(real)
        lost += not checks
    return lost > 0


@question("A17", "5.5.0 5.5.1", gone_in="5.4.0")
def op_batch_thread_without_work(real: RealClasses) -> bool:
    """The thread that writes op batches runs when its first batch was written an interval ago."""
    opened(real, batch_interval_ms=20)
    sent_half(real, _NOW_MS)
    real.ask_or_raise("end", number=0, group=GROUP, half=0, place=0, says=_COMMIT, answersCheck="false", client=CHANNEL)
    real.ask_or_raise("go on with end", number=0)
    for _ in range(3):
        real.ask_or_raise("advance", ms=4_000)
        real.ask_or_raise("batch")
    return real.ask_or_raise("ask whether a thread spins", of="service", service="transactionalOpBatchService") == (
        "spins",
    )


@question("A18", "5.2.0 5.3.3 5.4.0 5.5.0", gone_in="5.5.1")
def thread_that_saves_counts(real: RealClasses) -> bool:
    """The thread that saves the counts of halves runs while its first interval is not over."""
    opened(real)
    return real.ask_or_raise("ask whether a thread spins", of="broker", service="transactionMetricsFlushService") == (
        "spins",
    )


@question("A32", "4.5.1", gone_in="4.7.1")
def half_of_a_namespace(real: RealClasses) -> bool:
    """The Java client of the release sends a half with a namespace."""
    opened(real)
    ((answer,)) = real.ask_or_raise("ask a client's half", namespace="NS")
    return answer.split(" ")[0] != f"NS%{TOPIC}"


@question("B36", "4.5.1 4.9.7 5.3.3 5.5.0", gone_in="")
def listener_that_says_null(real: RealClasses) -> bool:
    """A check reaches the Java client of the release, whose listener says null; one that says UNKNOW is answered."""
    opened(real)
    return real.ask_or_raise("ask a client whose listener says null") == ("0 1",)


@question("A55", "5.0.0 5.1.0", gone_in="5.1.4")
def client_that_connects_anew(real: RealClasses) -> bool:
    """A client has connected anew when its old connection is found to be silent."""
    opened(real)
    return real.ask_or_raise("ask for a client's channel") == ("not found",)


@question("A56", "4.5.1 4.9.7 5.3.3 5.5.1", gone_in="")
def halves_of_two_topics(real: RealClasses) -> bool:
    """Halves for two topics and two of their queues are sent."""
    opened(real)
    sent_half(real, _NOW_MS)
    sent_half(real, _NOW_MS, topic="Payments", queue=1, UNIQ_KEY="K1")
    answer = real.ask_or_raise("end of queue", topic="RMQ_SYS_TRANS_HALF_TOPIC")
    return answer[0] == "2"


@question("A38", "4.5.1 4.9.7 5.3.3 5.5.1", gone_in="")
def half_in_the_transient_pool(real: RealClasses) -> bool:
    """A file of the log whose writes go to the transient pool is read, before its bytes are moved and behind that."""
    opened(real)
    folder = real.folder / "transient"
    folder.mkdir()
    return real.ask_or_raise("ask for bytes in the transient pool", folder=folder) == ("nothing, then found",)


@question("A53", "4.5.1 5.2.0", gone_in="5.3.3")
def committed_message_that_is_not_counted(real: RealClasses) -> bool:
    """A half is committed; the broker counts the messages of its topic that are put."""
    opened(real)
    sent_half(real, _NOW_MS)
    real.ask_or_raise("end", number=0, group=GROUP, half=0, place=0, says=_COMMIT, answersCheck="false", client=CHANNEL)
    real.ask_or_raise("go on with end", number=0)
    return real.ask_or_raise("ask how many puts were counted", topic=TOPIC) == ("0",)
