"""Advice about a broken clause or a defect, and about an upgrade: by release, by what may go wrong, by settings.

Of a clause, what `wording/clauses.toml` names of `remedies.toml` is said; of a defect, what is said of the clause of
its search, or its line in `defects.toml`; of an upgrade, which grave defects of the catalogue it brings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from files.content import read_toml
from model_check.defects.affected import affects, arises, fixed_in, upgrade_from
from model_check.defects.catalogue import catalogue
from model_check.wording.clauses import kinds, meaning_of
from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers

if TYPE_CHECKING:
    from model_check.world import Environment, Profile
    from spec.language import Property

_SECOND_MS: Final = 1_000

KIND_OF_PROPERTY: Final = {
    name: kind
    for kind, names in {
        "lost_for_good": "L1 S8",
        "wrongly_delivered": "S2 S3 S4 S5",
        "delivered_twice": "S1",
        "altered": "S6",
        "stuck": "L3",
        "discarded_early": "L2",
        "not_carried_out": "L5",
        "record_lost": "S7 S10",
        "checked_again": "S9",
        "extra_load": "R1 L4 M1",
    }.items()
    for name in names.split()
}
"""Which kind of harm it is that a guarantee is broken; of a defect that breaks several, the gravest counts."""

LEAST_GRAVE: Final = "busy"
"""The kind of harm up to which a defect that a broker always shows is named wherever an upgrade is recommended."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Whom an advice is for."""

    release: str = ""
    """A release; empty where none is known, and advice for all is said with the releases that it is for."""
    environment: Environment | None = None
    """What may go wrong; None where that is not known."""
    times: Mapping[str, int] = field(default_factory=dict)
    """Of a `broker.conf`: `timeout_ms`, `check_interval_ms`, and `immunity_ms`, the longest of its messages or 0; empty
    without one."""

    @classmethod
    def of(
        cls,
        profile: Profile,
        environment: Environment | None = None,
        *,
        release: str = "",
        times: Mapping[str, int] | None = None,
    ) -> Self:
        """Of a profile, in an environment; the release is the profile's unless another one was asked for.

        Examples
        --------
        >>> from model_check.world import Profile
        >>> Situation.of(Profile.of("5.3.3+keeps_flag")).release, Situation.of(Profile.of("fixed")).release
        ('5.3.3', '5.5.1')
        """
        own = profile.unturned if release_numbers(profile.unturned) else NEWEST_RELEASE
        return cls(release or own, environment, times or {})


QUESTIONS: Final[dict[str, Callable[[Situation], bool]]] = {
    "may_be_immune": lambda asked: asked.times.get("immunity_ms", 1) > 0,
    "timeout_below_a_second": lambda asked: 0 < asked.times.get("timeout_ms", 0) < _SECOND_MS,
    "interval_below_a_second": lambda asked: 0 < asked.times.get("check_interval_ms", 0) < _SECOND_MS,
}
"""The conditions on a configuration that `when` may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing to do, and when it applies."""

    say: str = ""
    """What to do; behind the release to go to, what that does."""
    upgrade: str = ""
    """The defect that an upgrade mends; empty for what is no upgrade."""
    since: str = ""
    """The first release to which it applies; empty where there is no limit."""
    until: str = ""
    """The last one, likewise."""
    faults: tuple[str, ...] = ()
    """It applies where one of these may happen; always, if there is none."""
    when: str = ""
    """One of `QUESTIONS`; empty where nothing of a configuration is asked."""

    def applies_to(self, release: str) -> bool:
        """Whether it is for a release; for all where none is known."""
        if not release:
            return True
        if self.upgrade:
            return bool(upgrade_from(self.upgrade, release))
        numbers = release_numbers(release)
        is_late_enough = not self.since or release_numbers(self.since) <= numbers
        return is_late_enough and (not self.until or numbers <= release_numbers(self.until))

    def asks_for(self, asked: Situation) -> bool:
        """Whether it is for such a configuration."""
        return not self.when or QUESTIONS[self.when](asked)

    def words(self, asked: Situation) -> str:
        """What to do, said to somebody."""
        text = self.say.format(**asked.times)
        if not self.upgrade:
            return text
        targets = upgrade_from(self.upgrade, asked.release) if asked.release else fixed_in(self.upgrade)
        remark = upgrade_remark(asked.release, targets[0]) if asked.release else ""
        return ", ".join(part for part in (f"upgrade to {_or_later(self.upgrade, targets)}", text, remark) if part)

    def span(self, asked: Situation) -> str:
        """The releases that it is for, where that of who asks is not known: `up to 5.0.0`."""
        if asked.release or self.upgrade:
            return ""
        if self.since and self.until:
            return f"{self.since} to {self.until}"
        return f"from {self.since} on" if self.since else f"up to {self.until}" if self.until else ""


def remedy(clause: Property, asked: Situation) -> str:
    """What to do about a broken clause, without a full stop: a setting, a release, or what clients should do.

    Examples
    --------
    >>> from model_check.clauses import clauses_by_name
    >>> from model_check.world import Environment
    >>> remedy(clauses_by_name()["S1.passed_op"], Situation("4.5.2", Environment.of(["slow_round"])))
    'upgrade to 4.6.0 or later; make the consumer idempotent'
    """
    sentences = (advice(parts, asked) for parts in parts_for(clause))
    return "; ".join(one for one in sentences if one) or "nothing is needed in this release"


def remedy_of(identifier: str, release: str = "") -> str:
    """What to do about a defect, in one sentence without a full stop.

    The release is that of whoever asks, or, if it is empty, that in which the search of the catalogue finds the defect.

    Examples
    --------
    >>> remedy_of("A02"), remedy_of("A20")
    ('upgrade to 4.6.0 or later; make the consumer idempotent', 'transactionCheckInterval=60000, as up to 5.1.0')
    """
    search = catalogue()[identifier].search
    if search is None:
        return str(advice_on_defects()[identifier]["do"])
    world = search.world
    return remedy(search.clause, Situation(release or world.profile.unturned, world.environment))


@cache
def parts_for(clause: Property) -> tuple[tuple[Part, ...], ...]:
    """Parts for its kind of harm that stand first, those for the clause, and those for its kind that stand last."""
    meaning = meaning_of(clause)
    return parts_of(meaning.first), parts_of(meaning.remedy), parts_of(meaning.last)


@cache
def remedies() -> Mapping[str, tuple[Part, ...]]:
    """All by their names."""
    given = read_toml(Path(__file__).with_name("remedies.toml"))
    return {name: tuple(Part(**part) for part in parts) for name, parts in given.items()}


def parts_of(wanted: Iterable[str | Mapping[str, Any]]) -> tuple[Part, ...]:
    """The parts of remedies, each a name or a table of a name (`do`) and the faults under which it applies."""
    found: list[Part] = []
    for one in wanted:
        name, faults = (one, ()) if isinstance(one, str) else (one["do"], tuple(one["faults"]))
        found += [replace(part, faults=faults) for part in remedies()[name]]
    return tuple(found)


def advice(parts: Sequence[Part], asked: Situation) -> str:
    """The parts that apply, in one sentence without a full stop; empty if nothing does.

    What is for some of the faults in question only is said with them. Where none of them is spoken of, and nothing is
    said to all, what is said of other faults is.
    """
    open_to = [part for part in parts if part.applies_to(asked.release) and part.asks_for(asked)]
    spoken_of = frozenset(fault for part in open_to for fault in part.faults)
    faults = spoken_of if asked.environment is None else spoken_of.intersection(asked.environment)
    if all(part.faults for part in open_to):
        faults = faults or spoken_of
    faults_of: dict[tuple[str, str], list[str]] = {}
    for part in open_to:
        mine = [fault for fault in part.faults if fault in faults]
        if mine or not part.faults:
            faults_of.setdefault((part.words(asked), part.span(asked)), []).extend(mine)
    sentences = []
    for (words, span), mine in faults_of.items():
        world = f"with {' or '.join(dict.fromkeys(mine))}" if mine and set(mine) != faults else ""
        limits = ", ".join(part for part in (span, world) if part)
        sentences.append(f"{limits}: {words}" if limits else words)
    return "; ".join(sentences)


def _or_later(defect: str, releases: Sequence[str]) -> str:
    """The releases to go to; where a later line has the defect again, each line.

    Examples
    --------
    >>> _or_later("A07", ("4.9.5", "5.1.0")), _or_later("A34", ("4.9.4", "5.0.0")), _or_later("A19", ("5.3.4",))
    ('4.9.5 or a later 4.9, or to 5.1.0 or later', '4.9.4 or later', '5.3.4 or later')
    """
    first, *others = releases
    line = first.rpartition(".")[0]
    again = [one for one in others if affects(defect, f"{one.partition('.')[0]}.0.0")]
    if not again:
        return f"{first} or later"
    return f"{first} or a later {line}, or to {again[0]} or later"


@cache
def advice_on_defects() -> dict[str, dict[str, Any]]:
    """`defects.toml`: of the defects that no search finds what to do, and of some the kind of harm."""
    return read_toml(Path(__file__).with_name("defects.toml"))


def gravity_of(identifier: str) -> int:
    """How grave a defect is, as `Meaning.gravity`: 0 is the gravest.

    Examples
    --------
    >>> gravity_of("B13"), gravity_of("B02") == kinds().index("delivered_twice"), kinds()[gravity_of("A17")]
    (0, True, 'busy')
    """
    given = advice_on_defects().get(identifier, {}).get("kind")
    if given:
        return kinds().index(given)
    broken = catalogue()[identifier].properties
    return min((kinds().index(KIND_OF_PROPERTY[name]) for name in broken), default=len(kinds()) - 1)


def is_always_there(identifier: str) -> bool:
    """Whether it needs no fault: a search finds it in the quiet world, or a broker shows it in every run."""
    search = catalogue()[identifier].search
    if search is not None:
        return not search.world.environment
    return bool(advice_on_defects().get(identifier, {}).get("always"))


def by_gravity(identifier: str) -> tuple[int, bool, str]:
    """A key to sort defects by: gravest first, of equally grave ones those that need no fault."""
    return gravity_of(identifier), not is_always_there(identifier), identifier


def defects_brought(before: str, after: str) -> tuple[str, ...]:
    """The defects that a broker gets as it goes from one release to another, gravest first.

    Examples
    --------
    >>> defects_brought("5.3.3", "5.5.1"), defects_brought("5.5.1", "5.5.1")
    (('B52', 'A17', 'A57'), ())
    """
    return tuple(sorted((one for one in catalogue() if arises(one, before, after)), key=by_gravity))


def upgrade_remark(before: str, after: str) -> str:
    """The grave defects that an upgrade brings to every broker, with what a user sees; empty if there are none.

    Examples
    --------
    >>> upgrade_remark("5.3.3", "5.5.0")
    'which brings A17 (one core is busy for nothing)'
    >>> upgrade_remark("5.3.3", "5.3.4")
    ''
    """
    least = kinds().index(LEAST_GRAVE)
    grave = [one for one in defects_brought(before, after) if is_always_there(one) and gravity_of(one) <= least]
    by_effect: dict[str, list[str]] = {}
    for one in grave:
        by_effect.setdefault(catalogue()[one].effect, []).append(one)
    effects = ", ".join(f"{' '.join(ids)} ({effect})" for effect, ids in by_effect.items())
    return f"which brings {effects}" if effects else ""
