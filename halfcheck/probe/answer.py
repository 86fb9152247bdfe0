"""The answer of ``halfcheck probe``: plays, searches, the audit of the store; as JSON and as an exit code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from halfcheck.errors import ExitCode

if TYPE_CHECKING:
    from halfcheck.probe.session import Played, Target
    from halfcheck.probe.shrinking import Search
    from model_check.world import Profile
    from spark_trace_analysis.audit.audit import Audit


@dataclass(slots=True)
class ProbeAnswer:
    """Plays, searches and the audit of the store, if that was at hand.

    Attributes
    ----------
    names
        The topics and groups that are left on the broker.
    known, known_profile
        The release whose own behaviour is fine, and the profile that stands for it; None where none is named.
    not_played
        The schedules that were asked for, but not played any more.
    """

    target: Target
    played: list[Played] = field(default_factory=list)
    searches: list[Search] = field(default_factory=list)
    names: tuple[str, ...] = ()
    audit: Audit | None = None
    known: str | None = None
    known_profile: Profile | None = None
    not_played: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> ExitCode:
        """The gravest: a wrong play, then damage, then one that could not be held against the specification."""
        judged = [one.judgement for one in self.played if one.judgement is not None]
        if any(self.is_wrong(one) or one.differs for one in self.played):
            return ExitCode.SAFETY_VIOLATED
        if self.audit is not None and self.audit.damage:
            return ExitCode.BAD_CONTENT
        is_whole = len(judged) == len(self.played) and not any(search.ended for search in self.searches)
        return ExitCode.OK if is_whole and not self.not_played else ExitCode.OTHER

    def is_wrong(self, one: Played) -> bool:
        """Whether a play was not explained or broke a guarantee; what the known release explains is its behaviour."""
        if one.judgement is None:
            return False
        if self.known_profile is None:
            return bool(one.judgement.broken) or not one.judgement.is_explained
        is_its_own = one.judgement.profile == self.known_profile and one.judgement.is_explained
        return not is_its_own and self.known_profile not in one.also

    @property
    def broken(self) -> dict[str, Played]:
        """By clause that was broken, the play that took the fewest orders to it."""
        found: dict[str, Played] = {}
        for one in sorted(self.played, key=lambda each: len(each.done)):
            for broken in one.judgement.broken if one.judgement else ():
                found.setdefault(broken.name, one)
        return found

    @property
    def resembles(self) -> list[str]:
        """The ids of the known defects that transactions of the store look like."""
        rows = () if self.audit is None else self.audit.transactions
        return sorted({defect for row in rows for defect in row.resembles})

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "broker": str(self.target.address),
            "release": self.target.release,
            "profile": self.target.profile.name,
            "why_profile": self.target.why,
            "plays": [play_json(one) for one in self.played],
            "broken": [
                {"clause": name, "schedule": one.schedule.name, "orders": _orders(one)}
                for name, one in self.broken.items()
            ],
            "searches": [_search_json(search) for search in self.searches],
            "store": None if self.audit is None else {**self.audit.to_json(), "resembles": self.resembles},
            "topics_and_groups": list(self.names),
            "known": self.known,
            "not_played": self.not_played,
        }


def _orders(one: Played) -> list[str]:
    return [str(done.order) for done in one.done]


def _search_json(search: Search) -> dict[str, Any]:
    return {
        "name": search.name,
        "failure": None if search.failure is None else str(search.failure),
        "orders": [] if search.shortest is None else _orders(search.shortest),
        "orders_at_first": search.orders,
        "drawn": search.drawn,
        "shrinking_plays": search.plays,
        "played_again": search.again,
        "came_again": search.came,
        "seconds": round(search.seconds, 1),
        "ended": search.ended or None,
    }


def _divergence_json(one: Played) -> dict[str, Any] | None:
    found = None if one.judgement is None else one.judgement.verdict.divergence
    if found is None:
        return None
    return {"event": found.number, "text": str(found.event), "guard": found.guard, "nearest": list(found.nearest)}


def play_json(one: Played) -> dict[str, Any]:
    """One schedule as the JSON of a probe has it: what was done, what was written, and what the specification says."""
    judgement = one.judgement
    return {
        "schedule": one.schedule.name,
        "story": one.schedule.story,
        "orders": [
            {"order": str(done.order), "at": done.at_ms, **({} if done.answer is None else {"answer": done.answer})}
            for done in one.done
        ],
        "unreached": one.unreached or None,
        "missed": None if one.missed is None else str(one.missed),
        "events": [{"time": event.time, "event": str(event)} for event in one.probed.trace.events],
        "explained": None if judgement is None else judgement.is_explained,
        "complete": judgement is not None and judgement.verdict.is_complete,
        "faults": {} if judgement is None else judgement.verdict.faults,
        "divergence": _divergence_json(one),
        "reason": one.unfit or None,
        "also_explained_by": [profile.name for profile in one.also],
        "broken": [
            {"clause": each.name, "claims": each.clause.sentence, "event": each.event}
            for each in (judgement.broken if judgement else ())
        ],
        "settled": one.is_settled,
        "saved": None if one.saved is None else {"half": one.saved.half, "op": one.saved.op},
        "files_differ": list(one.differs),
    }
