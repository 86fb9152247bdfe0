"""Makes the plan out of the audit of a running broker, and of the partial copy that the audit has read.

A half is planned for if nothing will come of it by itself, or nothing has come so far: it is parked, lost, or pending
beyond its immunity. Whatever else looks open is named with the reason for which nothing is planned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from document.words import counted
from files.durations import about
from halfcheck.plan.plan import BrokerPlan, PlanError, PlannedRequest, Withheld
from halfcheck.plan.risks import BackedRisk, Decision, backed_risks, does, to_make_sure
from model_check.errors import ModelCheckError
from reference.format.broker_conf import broker_conf_of
from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import read_consumer_offsets
from reference.format.properties import REAL_QUEUE_ID
from reference.format.stored_message import create_message_id
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC
from spark_trace_analysis.audit.row_files import needs_a_decision
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import DISCARDED, OF_HALF_QUEUE, local_time
from spec.releases.broker_defaults import release_numbers
from wire.client.queries import broker_answers
from wire.client.transactions import HalfName, end_transaction_fields
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from halfcheck.pending_transactions import PendingTransaction
    from halfcheck.running_broker import BrokerAudit
    from reference.format.broker_conf import BrokerConf
    from reference.format.consumer_offsets import ConsumerOffsets
    from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent, TransactionRow
    from wire.client.channel import BrokerChannel

_RESUMES_SINCE: Final = "4.5.2"
_NAMES_TOPICS_SINCE: Final = "5.3.0"
"""From here on both headers have a topic, by which access control decides (``ResumeCheckHalfMessageRequestHeader``)."""
_RESUMES_COMPRESSED_SINCE: Final = "5.3.2"
_COMPRESSED_FLAG: Final = 1
_SEND_AGAIN: Final = "its producer is to send it again if it committed"
_HOUR_MS: Final = 3_600_000
_SETTINGS: Final = (
    "transactionTimeOut", "transactionCheckMax", "transactionCheckInterval", "transactionOpBatchInterval",
    "fileReservedTime",
)  # fmt: skip

_OUTCOMES: Final = {TransactionState.DELIVERED, TransactionState.DOUBLED, TransactionState.ROLLED_BACK}


class BrokerIdentity(NamedTuple):
    """What a broker calls itself; None for what it does not tell."""

    cluster: str | None
    name: str | None
    broker_id: str | None
    release: str | None


@dataclass(frozen=True, slots=True)
class _Situation:
    """What the requests of one plan share."""

    found: BrokerAudit
    log: CommitLog
    conf: BrokerConf
    release: str
    offsets: ConsumerOffsets
    pending: dict[tuple[str, str], PendingTransaction]

    def since(self, release: str) -> bool:
        """Whether the broker's release is this one or a later one."""
        return release_numbers(self.release) >= release_numbers(release)


def identity_and_settings(channel: BrokerChannel) -> tuple[BrokerIdentity, BrokerConf]:
    """What a broker calls itself, and its settings.

    Raises
    ------
    PlanError
        It is a slave.
    NameServerError, NoAnswerError
        As `wire.client.queries.broker_answers`.
    """
    answers = broker_answers(channel)
    named = {one.key: one.value for one in answers.settings or ()}
    conf = broker_conf_of(answers.settings or (), answers.release)
    if conf.broker_role == "SLAVE":
        message = f"{channel.address} is a slave (brokerRole=SLAVE), which ends no transaction: plan on its master"
        raise PlanError(message)
    own = BrokerIdentity(
        named.get("brokerClusterName"), named.get("brokerName"), named.get("brokerId"), answers.release
    )
    return own, conf


def plan_for(found: BrokerAudit, copy: Path, channel: BrokerChannel) -> BrokerPlan:
    """The plan for the rows of an audit, whose partial copy lies in a folder.

    Raises
    ------
    PlanError
        The broker is a slave, or nothing tells its release.
    """
    own, conf = identity_and_settings(channel)
    release = own.release or found.audit.version
    if not release:
        message = f"{channel.address}: nothing tells its release, by which the requests differ: give it by --version"
        raise PlanError(message)
    situation = _Situation(
        found,
        CommitLog.open(copy),
        conf,
        release,
        read_consumer_offsets(copy),
        {(one.row.group, one.row.unique_key): one for one in found.pending},
    )
    planned = [one for row in found.audit.transactions if (one := _of_row(row, situation)) is not None]
    requests = sorted(
        (one for one in planned if isinstance(one, PlannedRequest)),
        key=lambda one: (Decision.RESUME not in one.decisions, one.state != "lost", one.record_at),
    )
    numbered = tuple(replace(one, number=at) for at, one in enumerate(requests, 1))
    return BrokerPlan(
        broker=str(channel.address),
        cluster=own.cluster,
        name=own.name,
        broker_id=own.broker_id,
        release=release,
        read_at_ms=found.copy.read_at_ms,
        log_end=found.copy.end,
        settings={key: conf.or_default(key, release) for key in _SETTINGS},
        decisions=_decisions(numbered, release),
        requests=numbered,
        withheld=tuple(one for one in planned if isinstance(one, Withheld)),
        notes=tuple(_notes(situation)),
    )


def _notes(situation: _Situation) -> Iterator[str]:
    found = situation.found
    if not situation.since(_RESUMES_SINCE):
        yield (
            f"{situation.release} keeps no discarded half and knows no RESUME_CHECK_HALF_MESSAGE (both came with "
            f"{_RESUMES_SINCE}): what it discarded is lost here"
        )
    rows = len(found.audit.transactions)
    grave = found.audit.asked_for.total - found.audit.asked_for.plain
    if grave > rows:
        yield f"{grave - rows} transactions that are not plainly delivered or rolled back were not looked at (--limit)"


def _decisions(requests: tuple[PlannedRequest, ...], release: str) -> dict[str, object]:
    """What stands in the plan of each decision that may be made in it."""
    made = [decision for decision in Decision if any(decision in one.decisions for one in requests)]
    found: dict[str, object] = {}
    for decision in made:
        asks = any(one.is_pending for one in requests if decision in one.decisions)
        risks = [one for one in _risks_of(release, decision) if asks or not one.risk.of_pending]
        found[decision] = {
            "does": does(decision),
            "before": list(to_make_sure(decision, risks)),
            "may_break": [one.to_json() for one in risks],
        }
    return found


def _risks_of(release: str, decision: Decision) -> list[BackedRisk]:
    try:
        return [one for one in backed_risks(release) if one.risk.decision == decision]
    except ModelCheckError as error:
        message = f"--version {release}: {error}"
        raise PlanError(message) from None


def _of_row(row: TransactionRow, situation: _Situation) -> PlannedRequest | Withheld | None:
    """The request for a transaction, or why there is none; None where nothing is open."""
    states = {row.state, *row.also}
    is_pending = TransactionState.PENDING in states
    if TransactionState.UNKNOWN in states and not states & _OUTCOMES:
        return _withheld(row, f"what became of it is unknown ({row.unknown_cause}): audit the broker again")
    if is_pending and states & _OUTCOMES:
        return _withheld(row, "it has an outcome, and is asked for again all the same: its producer is to answer alike")
    if is_pending:
        return _of_pending(row, situation)
    if row.state == TransactionState.LOST:
        why = "its half lies behind the check service's offset, and nothing came of it: no round asks for it any more"
        return _end(row, situation, why)
    return _resume(row, situation) if needs_a_decision(row) else None


def _of_pending(row: TransactionRow, situation: _Situation) -> PlannedRequest | Withheld:
    pending = situation.pending.get((row.group, row.unique_key))
    if pending is None:
        return _withheld(row, "when it is checked next was not asked (--limit)")
    if pending.age_ms <= pending.immunity_ms:
        return _withheld(row, "it is younger than its immunity: its producer ends it")
    offsets = situation.offsets
    asked_for = [one for one in _copies(row) if one.offset >= (offsets.get(HALF_TOPIC, one.queue) or 0)]
    if len(asked_for) > 1:  # a round sets the offset at its end
        return _withheld(row, "a round is passing it, or it was put back twice (B16): plan again behind the round")
    forecast = pending.forecast
    if forecast is None:
        return _withheld(row, "this broker is a slave: its master asks for it")
    at = forecast.next_check_at
    next_check = "never checked again" if at is None else f"checked next {_at(at)}"
    why = (
        f"it is {about(pending.age_ms / 1_000)} old and still pending, with {counted(row.checks, 'check')} and "
        f"{counted(len(pending.producers), 'producer')} of its group connected here: {next_check}, and discarded "
        f"{_at(forecast.discarded_at)}, if nobody answers"
    )
    return _end(row, situation, why)


def _end(row: TransactionRow, situation: _Situation, why: str) -> PlannedRequest | Withheld:
    """END_TRANSACTION of the last copy, as an answer to a check: others are refused once an immunity is over (A58)."""
    copies = _copies(row)
    if not copies:
        return _withheld(row, f"none of its halves is left in the log: {_SEND_AGAIN}")
    last = copies[-1]
    name = HalfName(last.offset, last.at, row.unique_key, row.unique_key)
    fields = end_transaction_fields(row.group, name, 0, answers_check=True)
    named = {"topic": row.topic} if situation.since(_NAMES_TOPICS_SINCE) else {}
    header = {**fields, "commitOrRollback": None, **named}
    decisions = Decision.COMMIT, Decision.ROLLBACK
    return _request(row, situation, last, RequestCode.END_TRANSACTION, header, decisions, why)


def _resume(row: TransactionRow, situation: _Situation) -> PlannedRequest | Withheld:
    last = [event for event in row.history if event.event == DISCARDED][-1]
    record = situation.log.record_at(last.at)
    if record.sys_flag & _COMPRESSED_FLAG and not situation.since(_RESUMES_COMPRESSED_SINCE):
        why = f"its body is compressed, and {situation.release} would deliver it corrupt (B30)"
        return _withheld(row, f"{why}: {_SEND_AGAIN}")
    kept_ms = situation.conf.or_default("fileReservedTime", situation.release) * _HOUR_MS
    if situation.found.copy.read_at_ms - row.born > kept_ms:
        why = (
            f"it is older than fileReservedTime ({kept_ms // _HOUR_MS} h): a round would discard it again unasked (B30)"
        )
        return _withheld(row, f"{why}: {_SEND_AGAIN}")
    header: dict[str, str | int | bool | None] = {
        "msgId": create_message_id(record.store_host, record.physical_offset),
        **({"topic": DISCARD_TOPIC} if situation.since(_NAMES_TOPICS_SINCE) else {}),
    }
    checks = counted(row.checks, "check")
    why = f"it was discarded after {checks}, and neither delivered nor rolled back: no round asks for it any more"
    return _request(row, situation, last, RequestCode.RESUME_CHECK_HALF_MESSAGE, header, (Decision.RESUME,), why)


def _request(
    row: TransactionRow,
    situation: _Situation,
    names: HistoryEvent,
    code: RequestCode,
    fields: dict[str, str | int | bool | None],
    decisions: tuple[Decision, ...],
    why: str,
) -> PlannedRequest:
    is_resume = code == RequestCode.RESUME_CHECK_HALF_MESSAGE
    real_queue = situation.log.record_at(names.at).properties.get(REAL_QUEUE_ID, "")
    copies = _copies(row)
    return PlannedRequest(
        number=0,
        request=code.name,
        code=int(code),
        fields=fields,
        decisions=decisions,
        decision=Decision.RESUME if is_resume else None,
        why=why,
        unique_key=row.unique_key,
        keys=row.keys,
        group=row.group,
        topic=row.topic,
        real_queue=int(real_queue) if real_queue.isdecimal() else 0,
        state="pending" if TransactionState.PENDING in (row.state, *row.also) else str(row.state),
        record_topic=DISCARD_TOPIC if is_resume else HALF_TOPIC,
        record_queue=names.queue,
        record_offset=names.offset,
        record_at=names.at,
        half_queue=copies[0].queue if copies else 0,
        half_offsets=row.half_offsets,
    )


def _copies(row: TransactionRow) -> list[HistoryEvent]:
    return [event for event in row.history if event.event in OF_HALF_QUEUE]


def _withheld(row: TransactionRow, why: str) -> Withheld:
    return Withheld(row.unique_key, " and ".join((row.state, *row.also)), why)


def _at(milliseconds: int) -> str:
    return f"at {local_time(milliseconds)}"
