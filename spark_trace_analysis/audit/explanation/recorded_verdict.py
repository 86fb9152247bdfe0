"""Whether the specification of a version explains a recorded trace: what a broker did, or a walk with its actions."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from model_check.trace_validation.follow import SEEN, NamedEvent, TooManyStatesError, follow
from model_check.trace_validation.validate import validate
from model_check.world import NO_FAULTS, Profile, World
from spark_trace_analysis.audit.explanation.trace_verdict import validation_settings
from spark_trace_analysis.errors import BadOptionError, BadTracesError
from spark_trace_analysis.ingest.observed_rows import observed
from spark_trace_analysis.traces.manifest import read_manifest
from spark_trace_analysis.traces.recorded_trace import RecordedTrace, Row, read_recorded_traces
from spark_trace_analysis.traces.run_layout import MANIFEST, has_manifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reference.format.broker_conf import BrokerConf
    from spec.constants import Instance


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first event that no path explains, its trace's number, the refusing guard, and the nearest possible ones."""

    trace: int
    row: Row
    guard: str
    nearest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordedVerdict:
    """The verdict on a file of traces.

    Attributes
    ----------
    events
        How many events were explained, or are in the traces that were asked about.
    faults
        The faults that the paths need, each with how often.
    refusal
        Where the first one is not explained; None where all are, or a search that was cut short gives no reason.
    """

    profile: Profile
    accepted: bool
    events: int
    explained: int
    faults: dict[str, int]
    is_complete: bool
    refusal: Refusal | None

    def sentence(self) -> str:
        """The verdict in words."""
        if self.accepted:
            with_faults = ", ".join(f"{count} {fault}" for fault, count in self.faults.items())
            return f"accepted by the specification of {self.profile} with {with_faults or 'no fault'}"
        found = self.refusal
        if found is None:
            return f"refused by the specification of {self.profile}; the search did not get to a reason"
        return (
            f"refused by the specification of {self.profile} at step {found.row.step} of trace {found.trace} "
            f"({found.row}): {found.guard}; allowed were: {'; '.join(found.nearest) or 'nothing'}"
            f"{'' if self.is_complete else '; the search was cut short'}"
        )

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON values, with the keys of a store's."""
        found = self.refusal
        divergence = None
        if found is not None:
            event = {"number": found.row.step, "text": str(found.row), **asdict(found.row)}
            divergence = {"event": event, "guard": found.guard, "nearest": list(found.nearest)}
        return {
            "events": self.events,
            "accepted": self.accepted,
            "divergence": divergence,
            "profile": self.profile.name,
            "faults": self.faults,
            "explained": self.explained,
            "complete": self.is_complete,
            "reason": None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedQuestion:
    """The specification and the settings to hold traces against.

    Attributes
    ----------
    instance
        The instance in which traces with actions were walked; without it, the one that the manifest beside them names.
    report
        Called with the number of events explained and of all events of a trace.
    """

    profile: Profile
    conf: BrokerConf
    instance: Instance | None = None
    report: Callable[[int, int], None] | None = None


def judge_recorded(path: Path, question: RecordedQuestion) -> RecordedVerdict:
    """Hold each trace of a file against a specification, until one is refused.

    Raises
    ------
    BadTracesError, BadOptionError
        The file holds no traces; or walks, and nothing says in which instance.
    """
    events = explained = 0
    faults: Counter[str] = Counter()
    for trace in read_recorded_traces(path):
        names_actions = [bool(row.action) for row in trace.rows]
        if any(names_actions) and not all(names_actions):
            place = trace.rows[names_actions.index(False)].step
            message = f"{path}: step {place} of trace {trace.number} names no action, others do; expected all or none"
            raise BadTracesError(message)
        verdict = _follow(path, trace, question) if any(names_actions) else _validate(trace, question)
        events += verdict.events
        explained += verdict.explained
        faults.update(verdict.faults)
        if not verdict.accepted:
            break
    return replace(verdict, events=events, explained=explained, faults=dict(sorted(faults.items())))


def _follow(path: Path, trace: RecordedTrace, question: RecordedQuestion) -> RecordedVerdict:
    """Follow a walk, whose rows name the actions."""
    constants = World(question.profile, NO_FAULTS, question.instance or _instance_beside(path)).constants
    named = (NamedEvent(row.action, row.time, tuple(getattr(row, name) for name in SEEN)) for row in trace.rows)
    try:
        followed = follow(named, constants)
    except TooManyStatesError as error:
        message = f"{path}: trace {trace.number}: {error}"
        raise BadTracesError(message) from None
    accepted, refusal = followed.guard is None, None
    if followed.guard is not None:
        refusal = Refusal(trace.number, trace.rows[followed.explained], followed.guard, followed.nearest)
    faults = followed.faults
    return RecordedVerdict(
        question.profile, accepted, len(trace.rows), followed.explained, faults, is_complete=True, refusal=refusal
    )


def _instance_beside(path: Path) -> Instance:
    if not has_manifest(path.parent):
        message = (
            f"{path}: its events name actions, but no {MANIFEST} beside it says in which instance it was walked; "
            f"give --instance NAME"
        )
        raise BadOptionError(message)
    return read_manifest(path.parent).parameters.world.instance


def _validate(trace: RecordedTrace, question: RecordedQuestion) -> RecordedVerdict:
    """Validate a broker's own recording, which lacks the producers' actions."""
    settings = validation_settings(question.conf, question.profile.name)
    recording = observed(trace, settings.timeout_ms, with_discards=question.profile.switches.keeps_discarded)
    verdict = validate(recording.trace, settings, question.profile.switches, question.report)
    found = verdict.divergence
    total = len(recording.trace.events)
    explained = total if verdict.accepted else 0 if found is None else found.number
    refusal = None
    if found is not None:
        refusal = Refusal(trace.number, recording.rows[found.number], found.guard, found.nearest)
    return RecordedVerdict(
        question.profile, verdict.accepted, total, explained, verdict.faults, verdict.is_complete, refusal
    )
