"""How a real broker is led through each scenario, from its start to the end of its clients."""

from __future__ import annotations

import random
import time
from os import utime
from typing import TYPE_CHECKING, Final

from real_brokers.rocketmq.archive import archive_before_deletion
from real_brokers.rocketmq.client import (
    COMMIT,
    ROLLBACK,
    UNKNOWN,
    Client,
    ClientHalf,
    ClientMessage,
    ClientPlan,
    SendRefusedError,
)
from reference.format.properties import IMMUNITY_SECONDS, PREPARED_QUEUE_OFFSET
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from real_brokers.rocketmq.broker import RealBroker

_FOREVER: Final = ClientPlan.of(UNKNOWN, UNKNOWN)
_PREPARED: Final = 4
TIMEOUT_OF_ENTRIES_MS: Final = 60_000
"""``transactionTimeOut`` of `entries_come_back`: until then the broker knows the producer again that it has to ask."""
_ASKED: Final = ClientPlan.of(UNKNOWN, COMMIT)
_SECONDS_TO_FIRST_CLEANING: Final = 62
_UNCOMPRESSED: Final = 3_900
_BEFORE_THE_HALF_TOPIC: Final = "TopicLoad"
"""In the hash map of the store's queues, of 64 places."""


# --- the golden stores ------------------------------------------------------------------------------------------------


def ten(broker: RealBroker) -> None:
    """Ten messages: a third each commits, rolls back, and is answered at the first, second or fourth check."""
    client = broker.client("ten-group")
    asked = {2: (COMMIT,), 5: (UNKNOWN,), 8: (UNKNOWN, UNKNOWN, COMMIT)}
    for number in range(10):
        body = f"Hello RocketMQ {number}"
        message = ClientMessage("TopicTen", body, f"Tag{'ABCDE'[number % 5]}", f"KEY{number}", f"m{number}")
        plan = ClientPlan((COMMIT, ROLLBACK, UNKNOWN)[number % 3], asked.get(number, ()))
        client.send("P", message, plan)
        time.sleep(0.01)
    broker.settle(client, 120)
    client.leave("P", "TopicTen")


def five(broker: RealBroker) -> None:
    """A commit, a rollback, one that stays unknown, a commit and a rollback at the first check."""
    client = broker.client("g5")
    plans = (
        ClientPlan(COMMIT),
        ClientPlan(ROLLBACK),
        _FOREVER,
        ClientPlan.of(UNKNOWN, COMMIT),
        ClientPlan.of(UNKNOWN, ROLLBACK),
    )
    for number, plan in enumerate(plans, start=1):
        client.send("P", ClientMessage("T5", f"msg-{number}", "t", f"k{number}"), plan)
    broker.settle(client, 120)
    client.leave("P", "T5")


def forever(broker: RealBroker) -> None:
    """One message that stays unknown until it is discarded."""
    client = broker.client("tran-test")
    client.send("P", ClientMessage("Test", "test"), _FOREVER)
    broker.settle(client, 1_200)
    client.leave("P", "Test")


def immunity(broker: RealBroker) -> None:
    """Immunities of 6, 0, -1 and "abc"; one commit inside the window, after its half was put back for it."""
    client = broker.client("imm-group")
    sent: dict[str, ClientHalf] = {}
    messages: dict[str, ClientMessage] = {}
    for letter, seconds, plan in (
        ("a", "6", ClientPlan.of(UNKNOWN, UNKNOWN, COMMIT)),
        ("b", "6", _FOREVER),
        ("c", "6", ClientPlan(COMMIT)),
        ("d", None, ClientPlan.of(UNKNOWN, COMMIT)),
        ("e", "0", ClientPlan.of(UNKNOWN, COMMIT)),
        ("f", "-1", ClientPlan.of(UNKNOWN, COMMIT)),
        ("g", "abc", ClientPlan.of(UNKNOWN, COMMIT)),
    ):
        own = {} if seconds is None else {IMMUNITY_SECONDS: seconds}
        messages[letter] = ClientMessage("TopicImm", f"imm-{letter}", "TagI", f"k{letter}", properties=own)
        sent[letter] = client.send("P", messages[letter], plan)
    time.sleep(3)
    client.expect(messages["b"], ClientPlan.of(UNKNOWN, COMMIT), is_answered=True)
    client.end("P", "imm-b inside its immunity, at its first offsets", sent["b"], COMMIT, group="imm-group")
    broker.settle(client, 60)
    client.leave("P", "TopicImm")


def late(broker: RealBroker) -> None:
    """Requests that come twice, contradict, name something else, or come after a put-back, an immunity, a discard."""
    group = "late-group"
    client = broker.client(group)

    def sent(number: int, name: str, plan: ClientPlan, **properties: str) -> tuple[ClientMessage, ClientHalf]:
        message = ClientMessage("TopicLate", name, "TagL", f"k{number}", properties=properties)
        half = client.send("P", message, plan)
        time.sleep(0.3 if plan.local is not UNKNOWN else 0)
        return message, half

    _, half = sent(1, "dup-1", ClientPlan(COMMIT))
    client.end("P", "dup-1 second commit", half, COMMIT, group=group)
    client.end("P", "dup-1 third commit, one-way", half, COMMIT, group=group, oneway=True)
    _, half = sent(2, "cr-2", ClientPlan(COMMIT))
    client.end("P", "cr-2 rollback after commit", half, ROLLBACK, group=group)
    _, half = sent(3, "rc-3", ClientPlan(ROLLBACK))
    client.end("P", "rc-3 commit after rollback", half, COMMIT, group=group)
    _, half = sent(4, "bad-4", ClientPlan(COMMIT))
    queue_offset, log_offset, key = half.queue_offset, half.commit_log_offset, half.transaction_id
    client.end("P", "bad-4 other group", half, COMMIT, group="other-group")
    client.end("P", "bad-4 other queue offset", ClientHalf(queue_offset + 1, log_offset, key), COMMIT, group=group)
    client.end("P", "bad-4 beyond the log", ClientHalf(queue_offset, 900_000, key), COMMIT, group=group)
    client.end("P", "bad-4 inside a record", ClientHalf(queue_offset, log_offset + 4, key), COMMIT, group=group)
    client.end("P", "bad-4 unknown", half, UNKNOWN, group=group, oneway=True)
    client.end("P", "bad-4 prepared", half, _PREPARED, group=group, oneway=True)
    discarded, first = sent(5, "disc-5", _FOREVER)
    stale, half = sent(6, "stale-6", ClientPlan.of(UNKNOWN, UNKNOWN, UNKNOWN, COMMIT))
    _, immune = sent(7, "imm-7", _FOREVER, **{IMMUNITY_SECONDS: "2"})
    client.wait_for_checks(stale, 1)
    client.end("P", "stale-6 commit at its first offsets", half, COMMIT, group=group)
    time.sleep(4)
    client.end("P", "imm-7 commit after its immunity", immune, COMMIT, group=group)
    client.end("P", "imm-7 rollback after its immunity", immune, ROLLBACK, group=group)
    client.end("P", "imm-7 commit that answers a check", immune, COMMIT, group=group, from_check=True)
    broker.settle(client, 60)
    client.end("P", "disc-5 commit after its discard", first, COMMIT, group=group)
    last = client.checks(discarded).last
    if last is not None:
        again = ClientHalf(last.queue_offset, last.commit_log_offset, first.transaction_id)
        client.end("P", "disc-5 commit of its last copy", again, COMMIT, group=group, from_check=True)
    time.sleep(5)
    client.request("P", RequestCode.UPDATE_BROKER_CONFIG, "rejectTransactionMessage=true\n")
    try:
        sent(9, "rej-9", ClientPlan(COMMIT))
    except SendRefusedError as refusal:
        client.note("reject.result", err=str(refusal))
    client.leave("P", "TopicLate")


def crash(broker: RealBroker) -> None:
    """The broker is killed with unknown messages pending and one commit just acknowledged, and started again."""
    client = broker.client("crash-group")
    six = [
        ClientPlan(COMMIT),
        ClientPlan(ROLLBACK),
        ClientPlan.of(UNKNOWN, COMMIT),
        ClientPlan(UNKNOWN, (*[UNKNOWN] * 4, COMMIT)),
        ClientPlan(UNKNOWN, (*[UNKNOWN] * 4, ROLLBACK)),
        _FOREVER,
    ]
    messages = [ClientMessage("TopicCrash", f"crash-{number}", "TagC", f"k{number}") for number in range(9)]
    for message, plan in zip(messages, six, strict=False):
        client.send("P", message, plan)
    client.wait_for_checks(messages[5], 3)
    client.send("P", messages[6], ClientPlan.of(COMMIT, COMMIT))
    client.send("P", messages[7], ClientPlan.of(ROLLBACK, ROLLBACK))
    time.sleep(0.1)
    client.note("marker", name="crash")
    broker.kill_broker()
    time.sleep(1.5)
    broker.start_broker()
    client.note("resume", cmd="resumed")
    _send_patiently(client, "P", messages[8], ClientPlan(COMMIT))
    broker.settle(client, 180)
    client.leave("P", "TopicCrash")


def late_crash(broker: RealBroker) -> None:
    """The same, after the offsets were saved for the first time, 10 s after the boot."""
    time.sleep(12)
    crash(broker)


def gone(broker: RealBroker) -> None:
    """The only producer dies, rounds are burnt while nobody is there to be asked, and a new one joins."""
    first = broker.client()
    first.producer("P1", "gone-group")
    messages = [ClientMessage("TopicGone", f"gone-{number}", "TagG", f"k{number}") for number in range(3)]
    for message in messages:
        first.send("P1", message, _FOREVER)
    first.halt()
    broker.note("driver 1 halted")
    time.sleep(6.5 * broker.check_interval_ms / 1_000 + 2)
    second = broker.client()
    answers = (COMMIT,), (ROLLBACK,), (UNKNOWN, COMMIT)
    for message, own in zip(messages, answers, strict=True):
        second.expect(message, ClientPlan(UNKNOWN, own))
    second.producer("P2", "gone-group")
    second.send("P2", ClientMessage("TopicGone", "gone-9", "TagG", "k9"), ClientPlan(COMMIT))
    broker.settle(second, 120)
    second.leave("P2", "TopicGone")


def wide(broker: RealBroker) -> None:
    """What the others leave out: flags, odd bodies and names, many properties, several log files, large op bodies."""
    client = broker.client("wide-group")
    topic, long_topic, asked = "TopicWide", f"TopicWide-{'abcdefghij' * 11}", ClientPlan.of(UNKNOWN, COMMIT)
    many = {f"prop{number}": f"v{number}" for number in range(24)}
    immune = {f"q{number * 37}": f"x{number}" for number in range(14)} | {IMMUNITY_SECONDS: "4"}
    for message, plan in (
        (ClientMessage(topic, "wide-a|flag", "TagW", "k1", flag=77), asked),
        (ClientMessage(topic, "wide-b|no tag, no key"), ClientPlan(COMMIT)),
        (
            ClientMessage(topic, "wide-c|你好, 世界", "标签", "键1 键2", properties={"名": "值"}),
            ClientPlan.of(UNKNOWN, UNKNOWN, COMMIT),
        ),
        (ClientMessage(long_topic, "wide-d|a long topic", "TagW", "k4"), asked),
        (
            ClientMessage(topic, "wide-e|many properties", "TagW", "k5", properties=many),
            ClientPlan.of(UNKNOWN, ROLLBACK),
        ),
        (ClientMessage(topic, "wide-f|immune", "TagW", "k6", flag=3, properties=immune), asked),
        (ClientMessage(topic, b"wide-g|" + random.Random(7).randbytes(700), "TagW", "k7"), asked),
        (ClientMessage(topic, f"wide-h|{'z' * 3_000}", "TagW", "k8", waits_for_store=False), ClientPlan(COMMIT)),
    ):
        client.send("P", message, plan)
    for number in range(1_400):
        body = f"w{number:04}|{'0123456789' * (number % 40)}"
        client.send("P", ClientMessage(topic, body, "TagW"), ClientPlan(ROLLBACK if number % 9 == 8 else COMMIT))
    client.send("P", ClientMessage(topic, "wide-z|never", "TagW", "k9"), _FOREVER)
    broker.settle(client, 120)
    client.leave("P", topic, long_topic)


def mixed(broker: RealBroker) -> None:
    """200 messages of two groups to two topics, random outcomes and sizes, from one seed."""
    client, chance = broker.client(), random.Random(20240607)
    for group in "AB":
        client.producer(f"P{group}", f"Group{group}")
    for number in range(200):
        kind, checks = chance.randrange(100), chance.randrange(4)
        outcome = chance.choice((COMMIT, ROLLBACK))
        if kind < 65:
            plan = ClientPlan(COMMIT if kind < 40 else ROLLBACK)
        else:
            plan = _FOREVER if kind >= 97 else ClientPlan(UNKNOWN, (*[UNKNOWN] * checks, outcome))
        body = f"mix-{number:03}|{'abcdefghijklmnopqrstuvwxyz'[number % 26] * chance.randrange(1, 201)}"
        keys = f"key-{number}" if chance.randrange(3) == 0 else ""
        own = {"order": f"o{number}"} if number % 7 == 0 else {}
        message = ClientMessage(
            f"MixTopic{chance.choice('AB')}", body, f"Tag{'ABCDE'[number % 5]}", keys, properties=own
        )
        client.send(f"P{chance.choice('AB')}", message, plan)
        time.sleep(chance.randrange(25) / 1_000)
    broker.settle(client, 240)
    client.shut_down("PA")
    client.leave("PB", "MixTopicA", "MixTopicB")


def _send_patiently(client: Client, producer: str, message: ClientMessage, plan: ClientPlan, tries: int = 6) -> None:
    for left in reversed(range(tries)):
        try:
            client.send(producer, message, plan)
            return
        except SendRefusedError:
            if not left:
                raise
            time.sleep(1)


# --- one known defect -------------------------------------------------------------------------------------------------


def foreign_op(broker: RealBroker) -> None:
    """B09: X's half waits in the timer topic and is rolled back; Y's half has the same offset in the half queue."""
    client = broker.client("foreign-group")
    x = ClientMessage("TopicForeign", "foreign-x", "TagF", "kx", properties={"TIMER_DELAY_SEC": "3600"})
    client.send("P", x, ClientPlan(ROLLBACK))
    client.send("P", ClientMessage("TopicForeign", "foreign-y", "TagF", "ky"), ClientPlan.of(UNKNOWN, COMMIT))
    broker.settle(client, 60)
    client.leave("P", "TopicForeign")


def delayed(broker: RealBroker) -> None:
    """A23: a half that is to be delivered in two seconds is committed at once; another one has no delay."""
    client = broker.client("delayed-group")
    message = ClientMessage("TopicDelayed", "delayed-1", "TagD", "k1", properties={"TIMER_DELAY_SEC": "2"})
    try:
        client.send("P", message, ClientPlan(COMMIT))
    except SendRefusedError as refusal:
        client.note("refused", err=str(refusal))
    client.send("P", ClientMessage("TopicDelayed", "delayed-2", "TagD", "k2"), ClientPlan(COMMIT))
    time.sleep(10)
    broker.settle(client, 60)
    client.leave("P", "TopicDelayed")


def synchronous(broker: RealBroker) -> None:
    """B40: with ``asyncSendEnable`` off, a plain message, one with a delay level, and a half that stays open."""
    client = broker.client("synchronous-group")
    client.send_plain("P", ClientMessage("TopicSync", "plain-1", "TagS", "k1"))
    client.send_plain("P", ClientMessage("TopicSync", "plain-2", "TagS", "k2", properties={"DELAY": "1"}))
    client.send("P", ClientMessage("TopicSync", "sync-3", "TagS", "k3"), ClientPlan(COMMIT))
    time.sleep(5)
    broker.settle(client, 60)
    client.leave("P", "TopicSync")


def steady(broker: RealBroker) -> None:
    """A16: a commit each 0.7 s for half a minute, so that the op messages tell how long they waited."""
    client = broker.client("steady-group")
    for number in range(45):
        client.send("P", ClientMessage("TopicSteady", f"steady-{number}", "TagS", f"k{number}"), ClientPlan(COMMIT))
        time.sleep(0.7)
    broker.settle(client, 60)
    client.leave("P", "TopicSteady")


def unread_op(broker: RealBroker) -> None:
    """B47: all is committed before the first round; the last halves are immune, their op messages behind 32 others."""
    client = broker.client("unread-group")
    immune = {IMMUNITY_SECONDS: "15"}
    for number in range(35):
        name, own = ("read", {}) if 0 < number < 32 else ("immune", immune)
        client.send(
            "P",
            ClientMessage("TopicUnread", f"{name}-{number}", "TagU", f"k{number}", properties=own),
            ClientPlan(COMMIT),
        )
    time.sleep(3.5 * broker.check_interval_ms / 1_000)
    broker.settle(client, 60)
    client.leave("P", "TopicUnread")


def foreign_original(broker: RealBroker) -> None:
    """B56: an immune half is sent with TRAN_PREPARED_QUEUE_OFFSET=1, and the half at 1 is committed before a round."""
    client = broker.client("original-group")
    own = {IMMUNITY_SECONDS: "25", PREPARED_QUEUE_OFFSET: "1"}
    client.send("P", ClientMessage("TopicOriginal", "sent-on", "TagO", "k0", properties=own), _ASKED)
    client.send("P", ClientMessage("TopicOriginal", "settled", "TagO", "k1"), ClientPlan(COMMIT))
    client.send("P", ClientMessage("TopicOriginal", "open", "TagO", "k2"), _ASKED)
    time.sleep(3 * broker.check_interval_ms / 1_000)
    broker.settle(client, 30)
    client.leave("P", "TopicOriginal")


def check_offsets(broker: RealBroker) -> None:
    """B57: a producer sets the half offset, back to 0 behind three settled halves, then to 1000 before an open one."""
    client = broker.client("offsets-group")
    for number in range(3):
        client.send("P", ClientMessage("TopicOffsets", f"settled-{number}", "TagO", f"k{number}"), ClientPlan(COMMIT))
    time.sleep(6 * broker.check_interval_ms / 1_000)
    _set_half_offset(client, 0)
    time.sleep(6 * broker.check_interval_ms / 1_000)
    client.send("P", ClientMessage("TopicOffsets", "open", "TagO", "k3"), _ASKED)
    _set_half_offset(client, 1_000)
    broker.settle(client, 60)
    client.leave("P", "TopicOffsets")


def _set_half_offset(client: Client, offset: int) -> None:
    header = {"consumerGroup": CHECK_GROUP, "topic": HALF_TOPIC, "queueId": "0", "commitOffset": str(offset)}
    client.request("P", RequestCode.UPDATE_CONSUMER_OFFSET, "", header)


def entries_come_back(broker: RealBroker) -> None:
    """B58: a kill; the log loses its last two halves, their queue entries stay; a start, a commit, another start."""
    client = broker.client("entries-group")
    body = "plain"
    client.send_plain("P", ClientMessage("TopicEntries", body))
    first = client.send("P", ClientMessage("TopicEntries", "first"), ClientPlan(ROLLBACK))
    time.sleep(2)
    gone = [
        client.send("P", ClientMessage("TopicEntries", f"gone-{number}"), ClientPlan(UNKNOWN)) for number in range(2)
    ]
    broker.kill_broker()
    broker.cut_log(gone[0].commit_log_offset)
    broker.start_broker()
    length = gone[1].commit_log_offset - gone[0].commit_log_offset
    padding = length - first.commit_log_offset
    client.send_plain("P", ClientMessage("TopicEntries", body + "x" * padding))
    client.send("P", ClientMessage("TopicEntries", "again"), ClientPlan(COMMIT))
    time.sleep(2)
    broker.stop_broker()
    broker.start_broker()
    time.sleep(TIMEOUT_OF_ENTRIES_MS / 1_000)
    broker.settle(client, 60)
    client.leave("P", "TopicEntries")


def dropped_checks(broker: RealBroker) -> None:
    """B52: between two rounds a broker is stopped and started three times while a half waits for its check.

    From 5.4.0 on each stop lets one more round run, whose put-back counts a check that a closed pool drops.
    """
    client = broker.client("dropped-group")
    client.send("P", ClientMessage("TopicDropped", "waits", "TagD", "k0"), _ASKED)
    for _ in range(3):
        time.sleep(2 * int(broker.settings["transactionTimeOut"]) / 1_000)
        broker.stop_broker()
        broker.start_broker()
    broker.settle(client, 120)
    client.leave("P", "TopicDropped")


def gone_half(broker: RealBroker) -> None:
    """B50: the file with two halves that wait is deleted; the committed one behind them is checked for each of them.

    A store begins to look for old files a minute after its start; the first file is made old by its time of change.
    Behind the deletion the store corrects the lower ends of its queues, one after the other in the order of Java's hash
    map, and sleeps (``deleteConsumeQueueFilesInterval``) after a queue that has lost a file, too: that of a topic which
    comes before the half topic. Until it goes on, rounds ask for halves that are gone. The half before them, which is
    settled, gives the half offset a place: a queue without one is read from its lower end.
    """
    client = broker.client("gone-group")
    client.send("P", ClientMessage("TopicGone", "gone-0", "TagG", "k0"), ClientPlan(COMMIT))
    for number in range(4 * (1 + int(broker.settings["mappedFileSizeConsumeQueue"]) // 20)):
        client.send_plain("P", ClientMessage(_BEFORE_THE_HALF_TOPIC, f"before-{number}"))
    time.sleep(_SECONDS_TO_FIRST_CLEANING)
    for number in range(1, 3):
        client.send("P", ClientMessage("TopicGone", f"gone-{number}", "TagG", f"k{number}"), _FOREVER)
    _fill_a_file(broker, client)
    client.send("P", ClientMessage("TopicGone", "gone-3", "TagG", "k3"), ClientPlan(COMMIT))
    _fill_a_file(broker, client)
    time.sleep(1)
    first = broker.run / "store" / "commitlog" / f"{0:020d}"
    archive_before_deletion(broker.run)
    utime(first, (0, 0))
    broker.note("the first file of the commit log made old")
    time.sleep(int(broker.settings["deleteConsumeQueueFilesInterval"]) / 1_000)
    broker.note("waited", is_there=first.exists())
    client.leave("P", "TopicGone")


def _fill_a_file(broker: RealBroker, client: Client) -> None:
    """Send as many plain messages as a file of the commit log holds, each too short to be compressed."""
    for _ in range(int(broker.settings["mappedFileSizeCommitLog"]) // _UNCOMPRESSED):
        client.send_plain("P", ClientMessage("TopicPlain", f"fills|{'x' * _UNCOMPRESSED}"))
