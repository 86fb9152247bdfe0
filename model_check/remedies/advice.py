"""What to do about a broken clause or a defect: `remedies.toml` by release, by what may go wrong, by settings.

Of a clause, what `wording/clauses.toml` names is said; of a defect, what is said of the clause of its search, or its
line in `defects.toml`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from files.content import parse_toml
from model_check.defects.affected import affects, fixed_in, upgrade_from
from model_check.defects.catalogue import catalogue
from model_check.remedies.situation import QUESTIONS, Situation
from model_check.remedies.upgrades import said_of_an_upgrade, said_of_defects
from model_check.wording.clauses import meaning_of
from model_check.world import Environment
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from spec.language import Property

FILE: Final = "remedies.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing to do, and when it applies.

    Attributes
    ----------
    say : str
        What to do; behind the release to go to, what that does.
    upgrade : str
        The defect that an upgrade mends; empty for what is no upgrade.
    since, until : str
        The first and the last release to which it applies; empty where there is no limit.
    faults : tuple of str
        It applies where one of these may happen; always, if there is none.
    when : str
        One of `QUESTIONS`; empty where nothing of a configuration is asked.
    """

    say: str = ""
    upgrade: str = ""
    since: str = ""
    until: str = ""
    faults: tuple[str, ...] = ()
    when: str = ""

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
        brought = said_of_an_upgrade(asked.release, targets[0]) if asked.release else ""
        return ", ".join(part for part in (f"upgrade to {_or_later(self.upgrade, targets)}", text, brought) if part)

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
    >>> remedy(clauses_by_name()["S1.passed_op"], Situation("4.5.2", Environment.of(["slow_round"])))
    'upgrade to 4.6.0 or later; make the consumer idempotent'
    """
    said = (advice(parts, asked) for parts in parts_said_of(clause))
    return "; ".join(one for one in said if one) or "nothing is needed in this release"


def remedy_of(identifier: str, release: str = "", environment: Environment | None = None) -> str:
    """What to do about a defect, in one sentence without a full stop.

    Parameters
    ----------
    identifier
    release
        Whose users ask; that in which the search of the catalogue finds it, if it is empty.
    environment
        What may go wrong besides what its search needs.

    Examples
    --------
    >>> remedy_of("A02"), remedy_of("A20")
    ('upgrade to 4.6.0 or later; make the consumer idempotent', 'transactionCheckInterval=60000, as up to 5.1.0')
    """
    search = catalogue()[identifier].search
    if search is None:
        return str(said_of_defects()[identifier]["do"])
    world = search.world
    faults = Environment.of((*world.environment, *(environment or ())))
    return remedy(search.clause, Situation(release or world.profile.unturned, faults))


@cache
def parts_said_of(clause: Property) -> tuple[tuple[Part, ...], ...]:
    """What is said of its kind of harm first, of the clause, and of its kind behind that."""
    meaning = meaning_of(clause)
    return parts_of(meaning.first), parts_of(meaning.remedy), parts_of(meaning.last)


@cache
def remedies() -> Mapping[str, tuple[Part, ...]]:
    """All by their names."""
    text = resources.files("model_check.remedies").joinpath(FILE).read_text(encoding="utf-8")
    return {name: tuple(Part(**part) for part in parts) for name, parts in parse_toml(text).items()}


def parts_of(wanted: Iterable[str | Mapping[str, Any]]) -> tuple[Part, ...]:
    """What a clause says to do: names of remedies, or tables of a name (`do`) and the faults under which it applies."""
    found: list[Part] = []
    for one in wanted:
        name, faults = (one, ()) if isinstance(one, str) else (one["do"], tuple(one["faults"]))
        found += [replace(part, faults=faults) for part in remedies()[name]]
    return tuple(found)


def advice(parts: Sequence[Part], asked: Situation) -> str:
    """What applies of some parts, in one sentence without a full stop; empty if nothing does.

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
    said = []
    for (words, span), mine in faults_of.items():
        world = f"with {' or '.join(dict.fromkeys(mine))}" if mine and set(mine) != faults else ""
        limits = ", ".join(part for part in (span, world) if part)
        said.append(f"{limits}: {words}" if limits else words)
    return "; ".join(said)


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
