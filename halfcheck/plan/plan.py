"""A plan: requests with all their fields, what each rests on, and the decision that somebody has to make; as a file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Self

from document.words import first_of
from files.content import parse_json
from files.errors import BadContentError
from files.reading import TABLE_BYTES, read_bytes
from files.writing import write_whole
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.plan.risks import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FORMAT: Final = "halfcheck plan"
VERSION: Final = 1

OUTCOMES: Final = {Decision.COMMIT: 8, Decision.ROLLBACK: 12}
"""``MessageSysFlag``: what END_TRANSACTION says, in its field ``commitOrRollback``."""

_DECIDED: Final = "decision"
_DIGEST: Final = "digest"


class PlanError(CommandLineError):
    """A plan can't be read, or is not sent; the message is one line that names what is wrong and what to do."""

    exit_code: int = ExitCode.BAD_CONTENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """What came of a request that was sent.

    Attributes
    ----------
    at
        When it was sent, in milliseconds since the epoch by this machine's clock.
    decision
        What was decided then.
    code, remark
        Of the answer; no code where none came.
    seen
        What was read back of it; empty where nothing was.
    is_over
        Whether nobody has to find out any more what came of it.
    """

    at: int
    decision: Decision
    code: int | None = None
    remark: str = ""
    seen: str = ""
    is_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """A request, and what it rests on.

    Attributes
    ----------
    request, code
        Its name and number (``RequestCode``).
    fields
        Its header; ``commitOrRollback`` of END_TRANSACTION is left to the decision.
    decisions, decision
        What may be decided, and what is; a request without a decision is not sent.
    unique_key, keys, group, topic, real_queue
        Whose half it is, and where its message goes.
    state
        That of the audit.
    record_topic, record_queue, record_offset, record_at
        The message that the request names: its queue, queue offset and commit log offset.
    half_queue, half_offsets
        The places of the half and its copies in the half queue: an op message that names one of them settles it.
    """

    number: int
    request: str
    code: int
    fields: dict[str, str | int | bool | None]
    decisions: tuple[Decision, ...]
    decision: Decision | None
    why: str
    unique_key: str
    keys: str
    group: str
    topic: str
    real_queue: int
    state: str
    record_topic: str
    record_queue: int
    record_offset: int
    record_at: int
    half_queue: int
    half_offsets: tuple[int, ...]
    sent: SentRequest | None = None

    @property
    def is_pending(self) -> bool:
        """Whether rounds still ask for its half."""
        return self.state == "pending"

    @property
    def is_over(self) -> bool:
        """Whether it was sent, and what came of it is known."""
        return self.sent is not None and (self.sent.code == 0 or self.sent.is_over)

    @property
    def header(self) -> dict[str, str | int | bool | None]:
        """All fields as they are sent, once it is decided about."""
        return self.fields | ({"commitOrRollback": OUTCOMES[self.decision]} if self.decision in OUTCOMES else {})

    @classmethod
    def of(cls, value: dict[str, Any]) -> Self:
        """Out of its JSON values; `PlanError` for a decision that is none of its own."""
        given = {one.name: value[one.name] for one in fields(cls)}
        decisions = tuple(map(Decision, given["decisions"]))
        decision = given["decision"]
        if decision is not None and decision not in decisions:
            expected = " or ".join(f'"{one}"' for one in decisions)
            message = f"request {given['number']} has the decision {json.dumps(decision)}; expected {expected}, or null"
            raise PlanError(message)
        sent = given["sent"]
        return cls(
            **given
            | {
                "decisions": decisions,
                "decision": None if decision is None else Decision(decision),
                "half_offsets": tuple(given["half_offsets"]),
                "sent": None if sent is None else SentRequest(**sent | {"decision": Decision(sent["decision"])}),
            }
        )


@dataclass(frozen=True, slots=True)
class Withheld:
    """A transaction for which no request is planned, and why."""

    unique_key: str
    state: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerPlan:
    """A plan for one broker at one moment.

    Attributes
    ----------
    broker, cluster, name, broker_id, release
        Its address, and what it calls itself; None for what it does not tell.
    read_at_ms, log_end
        The moment, by its clock, and the end of its commit log then.
    settings
        Those that the words and the waiting go by.
    decisions
        Of each decision that may be made: what it does, what must be made sure before, and which guarantees it may
        break, as JSON values.
    notes
        What else is to be said.
    """

    broker: str
    cluster: str | None
    name: str | None
    broker_id: str | None
    release: str
    read_at_ms: int
    log_end: int
    settings: dict[str, int]
    decisions: dict[str, Any]
    requests: tuple[PlannedRequest, ...]
    withheld: tuple[Withheld, ...]
    notes: tuple[str, ...] = ()

    @property
    def open(self) -> tuple[PlannedRequest, ...]:
        """The requests that are still to be decided about, or sent."""
        return tuple(one for one in self.requests if not one.is_over)

    @property
    def decided(self) -> tuple[PlannedRequest, ...]:
        """Those of them that are decided."""
        return tuple(one for one in self.open if one.decision is not None)

    def with_request(self, changed: PlannedRequest) -> BrokerPlan:
        """The plan with another request of the same number."""
        requests = (changed if one.number == changed.number else one for one in self.requests)
        return replace(self, requests=tuple(requests))

    def to_json(self) -> dict[str, Any]:
        """The file's content."""
        content = {"format": FORMAT, "version": VERSION} | asdict(self)
        return content | {_DIGEST: _digest(content)}


def write_plan(file: Path, plan: BrokerPlan) -> None:
    """Write a plan, which appears by rename and is on the disk then; raises `UnwritableFileError`."""
    write_whole(file, json.dumps(plan.to_json(), ensure_ascii=False, indent=2) + "\n", is_lasting=True)


def read_plan(file: Path) -> BrokerPlan:
    """Read a plan in which nothing but decisions was changed; raises `PlanError`, and `OSError` where there is none."""
    try:
        return plan_of(parse_json(read_bytes(file, TABLE_BYTES)))
    except (PlanError, BadContentError) as error:
        message = f"--plan {file}: {error}"
        raise PlanError(message) from None


def plan_of(content: Any) -> BrokerPlan:
    """The plan that JSON values are; raises `PlanError`."""
    again = "make a plan by halfcheck audit --broker HOST:PORT --plan FILE"
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        message = f"this is no plan; {again}"
        raise PlanError(message)
    if content.get("version") != VERSION:
        message = f"this is a plan of version {content.get('version')!r}, and {VERSION} was expected; {again}"
        raise PlanError(message)
    try:
        if content.get(_DIGEST) != _digest(content):
            message = f'something else than a "decision" was changed in it; {again}, and fill in decisions alone'
            raise PlanError(message)
        given = {one.name: content[one.name] for one in fields(BrokerPlan)}
        return BrokerPlan(
            **given
            | {
                "requests": tuple(map(PlannedRequest.of, given["requests"])),
                "withheld": tuple(Withheld(**one) for one in given["withheld"]),
                "notes": tuple(given["notes"]),
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"it is not as a plan is written ({error!r}); {again}"
        raise PlanError(message) from None


def carried_over(plan: BrokerPlan, earlier: BrokerPlan) -> BrokerPlan:
    """A plan that takes the place of an earlier one of the same broker.

    What was sent stays on record in front. Where the same is to be decided about a transaction again, it is decided
    as before. A note names what was decided by somebody and is not asked any more.
    """
    before = {(one.group, one.unique_key, one.decisions): one.decision for one in earlier.open}
    asked_again = {(one.group, one.unique_key, one.decisions) for one in plan.requests}
    dropped = [key for (group, key, decisions), decision in before.items()
               if decision not in (None, Decision.RESUME) and (group, key, decisions) not in asked_again]  # fmt: skip
    kept = [replace(one, sent=replace(one.sent, is_over=True)) for one in earlier.requests if one.sent is not None]
    requests: Sequence[PlannedRequest] = [
        *kept,
        *(
            replace(one, decision=before.get((one.group, one.unique_key, one.decisions), one.decision))
            for one in plan.requests
        ),
    ]
    notes = [f"the plan that stood here decided about {first_of(dropped)}, of which this one asks nothing: they are "
             "settled by now, or this audit selects others"] if dropped else []  # fmt: skip
    numbered = tuple(replace(one, number=at) for at, one in enumerate(requests, 1))
    return replace(plan, requests=numbered, notes=(*plan.notes, *notes))


def _digest(content: dict[str, Any]) -> str:
    """Of all but the decisions about what was not sent yet."""
    requests = [{key: value for key, value in one.items() if key != _DECIDED} for one in content["requests"]]
    kept = {key: value for key, value in content.items() if key != _DIGEST} | {"requests": requests}
    text = json.dumps(kept, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
