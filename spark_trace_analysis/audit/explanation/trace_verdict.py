"""The verdict on a store: whether the specification explains it, under which profile and which settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.configuration import Configuration
from model_check.releases import profile_for
from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.trace_validation.validate import validate
from model_check.world import Profile, asked_for
from spark_trace_analysis.audit.rules.advice import on_refusal
from spark_trace_analysis.records.version import RELEASES
from spec.language import NONE
from spec.profiles import distinct
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from model_check.trace_validation.path_search import PathVerdict
    from reference.format.broker_conf import BrokerConf
    from spark_trace_analysis.ingest.driver_log import DriverLog
    from spark_trace_analysis.ingest.store_trace import StoreTrace


_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class TraceVerdict:
    """The verdict of the specification on a store, of whose records `events` are part of a transaction.

    Whether some path explains them all is None if that is unknown, for the `reason`; the search's own result is None if
    nothing was searched, the broker.conf None for the defaults. `why_profile` says why it is that profile, where the
    release has none of its own or no record tells it.
    """

    events: int
    accepted: bool | None
    profile: Profile | None = None
    reason: str | None = None
    verdict: PathVerdict | None = None
    trace: StoreTrace | None = None
    why_profile: str = ""
    broker_conf: str | None = None

    @property
    def faults(self) -> dict[str, int]:
        """The faults that the path needs, each with how often."""
        return {} if self.verdict is None else self.verdict.faults

    @property
    def is_complete(self) -> bool:
        """Whether the search ran to its end; a refusal by one that was cut short says less."""
        return self.verdict is not None and self.verdict.is_complete

    def sentence(self) -> str:
        """The verdict in words."""
        if self.accepted is None:
            return f"not held against the specification: {self.reason}"
        if self.accepted:
            with_faults = ", ".join(f"{count} {fault}" for fault, count in self.faults.items())
            return f"accepted by the specification of {self.profile} with {with_faults or 'no fault'}"
        found = None if self.verdict is None else self.verdict.divergence
        if found is None:
            return f"refused by the specification of {self.profile}; the search did not get to a reason"
        return (
            f"refused by the specification of {self.profile} at event {found.number} ({found.event}): {found.guard}; "
            f"allowed were: {'; '.join(found.nearest) or 'nothing'}"
            f"{'' if self.is_complete else '; the search was cut short'}"
        )

    def advice(self) -> list[str]:
        """Advice to an operator whose store is not explained; empty if it is."""
        if self.accepted or self.profile is None:
            return []
        return on_refusal(self.profile, self.broker_conf, is_complete=self.is_complete)

    def divergence_json(self) -> dict[str, Any] | None:
        """The first event that no path explains, the refusing guard, and what was allowed instead."""
        found = None if self.verdict is None else self.verdict.divergence
        if found is None or self.trace is None:
            return None
        return {
            "event": event_json(found.number, found.event, self.trace),
            "guard": found.guard,
            "nearest": list(found.nearest),
        }

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON values, the key `trace` of an audit."""
        found = None if self.verdict is None else self.verdict.divergence
        explained = self.events if self.accepted else None if found is None else found.number
        return {
            "events": self.events,
            "accepted": self.accepted,
            "divergence": self.divergence_json(),
            "profile": None if self.profile is None else self.profile.name,
            "faults": self.faults,
            "explained": explained,
            "complete": self.is_complete,
            "reason": self.reason,
            "why_profile": self.why_profile,
            "broker_conf": self.broker_conf,
            "advice": self.advice(),
        }


def event_json(number: int, event: ObservedEvent, trace: StoreTrace) -> dict[str, Any]:
    """One event as JSON values, without absent fields."""
    values: dict[str, Any] = {"number": number, "event": event.kind.value, "text": str(event), "time": event.time}
    if trace.commit_log_offsets[number] != NONE:
        values["commit_log_offset"] = trace.commit_log_offsets[number]
    if event.transaction != NONE:
        values |= {"transaction": event.transaction, "unique_key": trace.keys[event.transaction]}
    for name in ("half", "op"):
        if getattr(event, name) != NONE:
            values[name] = getattr(event, name)
    if event.kind is EventKind.OP_STORED:
        values["names"] = list(event.names)
    if event.check_times:
        values["check_times"] = event.check_times
    return values


def profiles_for(version: str | None) -> tuple[Profile, ...]:
    """The profiles that stand for a version, or for a range of versions, the oldest first; all if it is not known.

    Of several with the same switches, the oldest.

    Examples
    --------
    >>> [[profile.name for profile in profiles_for(version)] for version in ("5.0.0", "5.2.0-5.5.1", "5.5.1")]
    [['4.9.7'], ['5.3.3', '5.4.0', '5.5.0', '5.5.1'], ['5.5.1']]
    """
    ends = [release_numbers(end) for end in (version or f"{RELEASES[0]}-{RELEASES[-1]}").split("-")]
    between = [release for release in RELEASES if ends[0] <= release_numbers(release) <= ends[-1]]
    return tuple(map(Profile.of, distinct(profile_for(release)[0] for release in between or [str(version)])))


def why_judged_by(profile: Profile, version: str | None) -> str:
    """Why a store of a version, or of a range of versions, is judged by a profile; empty where they are the same.

    Examples
    --------
    >>> why_judged_by(Profile.of("5.3.3"), "5.2.0-5.3.3")
    'no record tells 5.2.0 to 5.3.3 apart: judged by 5.3.3, which stands for them'
    >>> why_judged_by(Profile.of("5.4.0"), "5.4.0-5.5.1")
    'no record tells 5.4.0 to 5.5.1 apart: 5.4.0, 5.5.0 and 5.5.1 were asked in turn'
    """
    if version is not None and "-" not in version:
        return profile_for(version)[1]
    *others, last = (one.name for one in profiles_for(version))
    asked = f"{', '.join(others)} and {last}" if others else last
    if version is None:
        return f"no record tells which release wrote it: {asked} were asked in turn"
    alike = f"no record tells {version.replace('-', ' to ')} apart"
    by_one = f"{alike}: judged by {profile}, which stands for them"
    return by_one if asked == profile.name else f"{alike}: {asked} were asked in turn"


def validation_settings(conf: BrokerConf, release: str, check_max: int | None = None) -> Configuration:
    """The settings of a broker; what its `broker.conf` leaves out is the default of its release, or its profile's."""
    return Configuration.of_release(
        asked_for(release).release,
        check_max=conf.transaction_check_max if check_max is None else check_max,
        timeout_ms=conf.transaction_timeout_ms,
        check_interval_ms=conf.transaction_check_interval_ms,
        op_batch_interval_ms=conf.op_batch_interval_ms,
        op_message_max_size=conf.op_message_max_size,
        file_reserved_ms=None if conf.file_reserved_hours is None else conf.file_reserved_hours * _HOUR_MS,
    )


def judge_trace(
    store: StoreTrace,
    driver: DriverLog | None,
    asked: Iterable[tuple[Profile, Configuration]],
    report: Callable[[int, int], None] | None = None,
) -> TraceVerdict:
    """Ask profiles, each with its settings, in turn; the first that accepts counts, or the one that explains most."""
    requests = None if driver is None else driver.requests
    trace = Trace(tuple(store.events), requests, frozenset() if driver is None else driver.checked)
    records = sum(event.kind is not EventKind.OFFSETS_SAVED for event in trace.events)
    best: TraceVerdict | None = None
    for profile, settings in asked:
        verdict = validate(trace, settings, profile.switches, report)
        found = TraceVerdict(records, verdict.accepted, profile, None, verdict, store)
        if verdict.accepted:
            return found
        if best is None or _explained(found) > _explained(best):
            best = found
    if best is None:
        return TraceVerdict(records, None, reason="no profile stands for the version")
    return best


def _explained(verdict: TraceVerdict) -> int:
    found = None if verdict.verdict is None else verdict.verdict.divergence
    return -1 if found is None else found.number
