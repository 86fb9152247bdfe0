"""``transaction.log`` at level DEBUG, parsed as far as a schedule needs it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from conformance.errors import NoScheduleError
from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
from reference.format.record import CommitLogOffset, QueueOffset
from spec.releases.broker_defaults import defaults_of

_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \w+ (\S+) - (.*)", re.DOTALL)
_END = re.compile(
    r"Transaction request:.*producerGroup='?(.*?)'?, tranStateTableOffset=(\d+), commitLogOffset=(\d+), "
    r"commitOrRollback=(\d+), fromTransactionCheck=(true|false), msgId='?([^,']*)'?, transactionId='?([^,'}]*)"
)
_OP_FOUND = re.compile(r"Topic: RMQ_SYS_TRANS_OP_HALF_TOPIC tags: .*, OpOffset: (\d+), ")
_OP_MISSED = re.compile(r"The miss op offset=(\d+) in queue=.* maxOffset=(\d+)")
_ROUND_BEGINS = "Begin to check prepare message, begin time:"
_ROUND_ENDS = "End to check prepare message, consumed time:"
_CHECK_STARTS = "Start transaction check service thread!"
_CHECK_ENDS = "End transaction check service thread!"
_STORE_IS_CLOSED = "Get message from store return null"
_WROTE_COPY = "[BUG-TO-FIX]"
_WROTE_DISCARDED = "Put checked-too-many-time half message to "
_LEAVES = ("New arrived", "Fresh stored", "No new msg, the miss offset", "Illegal offset, the miss offset", "Queue=")
_OP_PULL = defaults_of(None)["OP_MSG_PULL_NUMS"]


@dataclass
class OpPull:
    """One read of the op queue by a round."""

    at: int
    writes: int
    """Records that the round had stored before."""
    visible: int | None
    """The op queue's end as the round saw it; None if it got as many as it had asked for."""
    found: int = 0


@dataclass
class LoggedRound:
    """One check round."""

    at: int
    left_at: int
    ended_at: int | None = None
    """When it began; when its loop ended; when its thread said so, None if it never did."""
    pulls: list[OpPull] = field(default_factory=list)
    """Its reads of the op queue."""
    writes: int = 0
    """The records that it stored, as far as the log tells."""
    is_closed: bool = False
    """The store was closed before it."""
    is_woken: bool = False
    """It began before its time because its thread was stopped."""


@dataclass
class LoggedEnd:
    """One END_TRANSACTION that the broker began to handle."""

    at: int
    header: EndTransactionRequestHeader


@dataclass
class Boot:
    """One process: from the start of its check thread on."""

    at: int
    rounds: list[LoggedRound] = field(default_factory=list)
    ends: list[LoggedEnd] = field(default_factory=list)
    stopped_at: int | None = None


def read_boots(log: str, path: str) -> list[Boot]:
    """The processes in a log, with what each handled.

    Raises
    ------
    NoScheduleError
        The log does not begin with a start, or says nothing of rounds.
    """
    boots: list[Boot] = []
    parser = _TransactionLogParser(boots)
    for line in re.split(r"\n(?=\d{4}-\d\d-\d\d )", log):
        match = _LINE.fullmatch(line.strip("\n"))
        if match is not None:
            parser.read(milliseconds(match[1]), match[2], match[3])
    if not boots:
        message = f"the transaction.log of {path} does not say {_CHECK_STARTS!r}: is it at level DEBUG, and whole?"
        raise NoScheduleError(message)
    return boots


def milliseconds(text: str) -> int:
    """The time of a line; the brokers' clocks were set to UTC."""
    return round(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


class _TransactionLogParser:
    def __init__(self, boots: list[Boot]) -> None:
        self._boots = boots
        self._round: LoggedRound | None = None
        self._pull: OpPull | None = None

    def read(self, at: int, thread: str, text: str) -> None:
        if text == _CHECK_STARTS:
            self._boots.append(Boot(at))
            self._round = None
        elif not self._boots:
            return
        elif text.startswith("Transaction request:"):
            match = _END.match(text)
            if match is not None:
                self._boots[-1].ends.append(LoggedEnd(at, _header(match)))
        elif text == _CHECK_ENDS:
            self._boots[-1].stopped_at = at
        elif "CheckService" in thread:
            self._read_round(at, text)

    def _read_round(self, at: int, text: str) -> None:
        if text.startswith(_ROUND_BEGINS):
            begin = int(text.rpartition(":")[2])
            self._round = LoggedRound(begin, begin)
            self._boots[-1].rounds.append(self._round)
            self._pull = None
        elif self._round is None:
            return
        elif text.startswith(_ROUND_ENDS):
            self._round.ended_at = at
            self._round = None
        else:
            self._read_pass(self._round, at, text)

    def _read_pass(self, running: LoggedRound, at: int, text: str) -> None:
        if found := _OP_FOUND.match(text):
            if self._pull is None:
                self._pull = OpPull(at, running.writes, None)
                running.pulls.append(self._pull)
            self._pull.found += 1
            self._pull.visible = int(found[1]) + 1 if self._pull.found < _OP_PULL else None
            return
        self._pull = None
        if missed := _OP_MISSED.match(text):
            running.pulls.append(OpPull(at, running.writes, int(missed[2])))
        elif text.startswith((_WROTE_COPY, _WROTE_DISCARDED)):
            running.writes += 1
        elif text.startswith(_LEAVES):
            running.left_at = at
        elif text.startswith(_STORE_IS_CLOSED):
            running.is_closed = True


def _header(match: re.Match[str]) -> EndTransactionRequestHeader:
    return EndTransactionRequestHeader(
        producer_group=match[1],
        tran_state_table_offset=QueueOffset(int(match[2])),
        commit_log_offset=CommitLogOffset(int(match[3])),
        commit_or_rollback=int(match[4]),
        from_transaction_check=match[5] == "true",
        msg_id=match[6],
        transaction_id=match[7],
    )
