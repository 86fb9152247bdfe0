"""The known defects of RocketMQ's transactional messages, by their ids: what is known of each, and where it is found.

`reported.toml` holds those that users reported (A01 …), `latent.toml` those that were found by reading and running the
code (B01 …). What the searches found of them is in `findings.toml` (`model_check.defects.findings`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from files.content import read_toml
from model_check.clauses import clauses_by_name, name_of
from model_check.did_you_mean import require_known
from model_check.errors import BadFile, ModelCheckError
from model_check.instances import load_instance
from model_check.world import Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from spec.constants import Instance
    from spec.language import Property, Response

MOST_STATES_IN_TESTS: Final = 20_000_000
"""Of the two searches for a defect together: some seconds, where they are compiled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectQuestion(ABC):
    """The part that all questions about defects have."""

    world: World
    """Where the defect is. In the catalogue, `profile`, `instance` and `faults`."""
    repaired_in: Profile | None = None
    """The profile in which it is gone, on the same instance in the same environment, if there is one."""
    shows: tuple[str, ...] = ()
    """Steps that make what is found one of this defect, in their order: names of actions, with all their parameters or
    with none, such as `put_back_immune_half` or `store_real_message h=2`; `write_op | buffer_op` is either."""
    takes_long: bool = False
    """The searches visit more than `MOST_STATES_IN_TESTS`: `make defects` makes them, the tests do not."""

    @property
    @abstractmethod
    def subject(self) -> str:
        """The name of the property that is asked about."""

    @property
    def command(self) -> str:
        """The command that asks it of the affected profile."""
        return f"halfcheck check {self.world.options} --property {self.subject}"

    @property
    def other_world(self) -> World | None:
        """Where the second search is made, if there is one: in the profile that is rid of it."""
        return None if self.repaired_in is None else self.world.in_profile(self.repaired_in)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectSearch(DefectQuestion):
    """The question whose answer is a defect."""

    clause: Property
    """The clause that is violated."""
    shows: tuple[str, ...]
    also_in: tuple[Profile, ...] = ()
    """Other profiles in which the same clause is violated, on the same instance in the same environment."""
    also_repaired_in: tuple[Profile, ...] = ()
    """Other profiles in which it is gone, by other repairs; `tests/model_check/test_switches.py` searches them."""
    most_states: int | None = None
    """Where the repaired profile's search is cut short."""
    later_on: Instance | None = None
    """Where it is not a profile that is rid of it but a larger instance that shows it later: the same profile breaks
    the clause there, too, with more steps."""

    @property
    def subject(self) -> str:
        """The name of the clause."""
        return name_of(self.clause)

    @property
    def other_world(self) -> World | None:
        """Where the second search is made, if there is one: where it is repaired, or where it shows later."""
        if self.repaired_in is not None:
            return self.world.in_profile(self.repaired_in)
        return None if self.later_on is None else self.world.on(self.later_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class LassoSearch(DefectQuestion):
    """A defect as a run for ever, or why it is none; `shows` are steps of the cycle.

    The instance forgets, and its runs are endless: a name, or a file with its path in the repository; `endless` if none
    is given.
    """

    response: Response
    """The response that never comes: such as `P8.halves`."""
    vanishes: str = ""
    """Why no run for ever shows the defect, in a sentence; the response holds then. Empty where there is a lasso."""

    @property
    def subject(self) -> str:
        """The name of the response."""
        return self.response.name


FILES = ("reported.toml", "latent.toml")


class Where(Enum):
    """Where a defect is found: by a search of the specification, only on the reference broker, or nowhere here.

    The broker shows some of the first kind, too (`model_check.defects.findings`).
    """

    SEARCH = "search"
    BROKER = "broker"
    OUT_OF_REACH = "out_of_reach"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongRepair:
    """A repair that was proposed and breaks something."""

    source: str
    """The pull request or commit."""
    proposal: str
    """What it does."""
    breaks: str
    """What becomes wrong."""
    search: DefectSearch | None = None
    """The question that shows it: its `profile` has the wrong repair, its `repaired_in` does without, or with the right
    one."""
    why: str = ""
    """Where no search shows it: the reason, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A defect, and all that is known of it."""

    identifier: str
    """The stable id."""
    name: str
    """A few words."""
    issues: tuple[str, ...] = ()
    """Issues and pull requests: `1544` of apache/rocketmq, `rocketmq-clients#688` of another repository of apache,
    `0fff4a8d84` for a commit."""
    affected: str
    """The first and last version that have it."""
    fixed: str = ""
    """The first that has not; empty while it is open."""
    in_releases: str | None = None
    """The releases that have it as ranges, `4.3.0–4.5.2, 5.0.0–5.0.0`, where `affected` is in words or does not say the
    last one; `5.1.1–` is open, and empty is none (`model_check.defects.affected`)."""
    effect: str
    """What a user sees."""
    properties: tuple[str, ...]
    """The guarantees that it breaks (`S1` …), the weightiest first."""
    evidence: tuple[str, ...]
    """`C` the code was read, `R` it is known from a report, `X` real brokers were run; that RocketMQ's own classes have
    shown it is on record (`model_check.defects.findings.evidence_of`)."""
    mechanism: str
    """How it comes about."""
    java: tuple[str, ...] = ()
    """The classes and methods that have it, `Class#method`, as far as no rule names them in whose docstring its id
    stands (`make releases`)."""
    repair: str = ""
    """What repairs it, or why nothing in the broker does; empty if nothing is known."""
    where: Where
    why: str = ""
    """For a defect that no search finds: the reason, in one line."""
    search: DefectSearch | None = None
    """The question that finds it; absent also while the specification does not bear it."""
    lasso: LassoSearch | None = None
    """The question of endless runs, where the defect stops something for ever, or seems to."""
    wrong_repairs: tuple[WrongRepair, ...] = ()

    @property
    def versions(self) -> str:
        """The versions that have it, in one cell of a table."""
        return f"{self.affected} → {self.fixed or 'open'}"

    def recorded_as(self, wrong: WrongRepair) -> str:
        """The name under which the figures of one of its wrong repairs are on record."""
        return f"{self.identifier} {wrong.source}"

    @property
    def questions(self) -> tuple[tuple[str, DefectSearch], ...]:
        """Its search and those of its wrong repairs, each with the name under which its figures are on record."""
        own = () if self.search is None else ((self.identifier, self.search),)
        wrong = ((self.recorded_as(w), w.search) for w in self.wrong_repairs if w.search is not None)
        return (*own, *wrong)

    @property
    def place(self) -> str:
        """Where it is found, in words; says so when its search is still to come."""
        if self.where is Where.SEARCH:
            return "search" if self.search is not None else "search, later"
        return "broker" if self.where is Where.BROKER else "out of reach"

    def found_by(self, shown: Container[str]) -> str:
        """All that finds it, in words, given the ids that the reference broker shows."""
        return "search+broker" if self.where is Where.SEARCH and self.identifier in shown else self.place


@cache
def catalogue() -> Mapping[str, Defect]:
    """All defects by their ids, A before B.

    Raises `BadFile`, which names the file, the id and the field, when an entry lacks a field or has one that is not
    known.
    """
    found: dict[str, Defect] = {}
    for file in FILES:
        for identifier, given in read_toml(Path(__file__).with_name(file)).items():
            found[identifier] = _defect(f"{file}: {identifier}", identifier, given)
    return found


def defect_called(identifier: str) -> Defect:
    """A defect by its id, in capitals or not.

    Raises `ModelCheckError`, which names the nearest ids by their number, and which there are, when there is none.
    """
    known = catalogue()
    wanted = identifier.strip().upper()
    if wanted in known:
        return known[wanted]
    nearest = " or ".join(f"{one} ({known[one].name})" for one in nearest_ids(wanted))
    did_you_mean = f"did you mean {nearest}? There" if nearest else "there"
    msg = f"no defect {identifier!r}; {did_you_mean} are {ranges()}, and halfcheck defects lists all {len(known)}"
    raise ModelCheckError(msg)


def nearest_ids(wanted: str) -> tuple[str, ...]:
    """The ids that something like one may mean, by its letter and its number; none where it has no number.

    A number without a letter is that of both series; a number too high means the last one of its series.

    Examples
    --------
    >>> nearest_ids("B1"), nearest_ids("01B"), nearest_ids("14"), nearest_ids("B99"), nearest_ids("C02")
    (('B01',), ('B01',), ('A14', 'B14'), ('B60',), ('A02', 'B02'))
    >>> nearest_ids("banana")
    ()
    """
    digits = "".join(re.findall(r"\d", wanted))
    if not digits:
        return ()
    series = {letter: [name for name in catalogue() if name.startswith(letter)] for letter in "AB"}
    asked = [letter for letter in series if letter in wanted] or list(series)
    return tuple(min(series[letter], key=lambda name: abs(int(name[1:]) - int(digits))) for letter in asked)


def ranges() -> str:
    """The ids that there are, series by series: `A01–A58 and B01–B58`."""
    series = ([name for name in catalogue() if name.startswith(letter)] for letter in "AB")
    return " and ".join(f"{names[0]}–{names[-1]}" for names in series)


T = TypeVar("T", bound="DataclassInstance")
Q = TypeVar("Q", bound=DefectQuestion)


def _defect(place: str, identifier: str, given: Mapping[str, Any]) -> Defect:
    entry: dict[str, Any] = {**given, "identifier": identifier}
    try:
        entry["where"] = Where(given.get("where"))
    except ValueError as error:
        msg = f"{place}: where is {given.get('where')!r}, not one of {', '.join(w.value for w in Where)}"
        raise BadFile(msg) from error
    entry["wrong_repairs"] = tuple(
        _record(WrongRepair, f"{place}: wrong repair {number}", wrong)
        for number, wrong in enumerate(given.get("wrong_repairs", ()), start=1)
    )
    return _record(Defect, place, entry)


def _record(kind: type[T], place: str, given: Mapping[str, Any]) -> T:
    """A dataclass from a table of the file; lists become tuples, and a search a record."""
    _require_fields(place, given, {field.name: field.default is MISSING for field in fields(kind)})
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    if "search" in given:
        values["search"] = _question(DefectSearch, f"{place}: search", given["search"])
    if "lasso" in given:
        values["lasso"] = _question(LassoSearch, f"{place}: lasso", {"instance": "endless", **given["lasso"]})
    return kind(**values)


def _question(kind: type[Q], place: str, given: Mapping[str, Any]) -> Q:
    """A search from a table of the file: its names become what they stand for."""
    own = {field.name: field.default is MISSING for field in fields(kind) if field.name != "world"}
    _require_fields(place, given, {"profile": True, "instance": True, "faults": False, **own})
    try:
        world = World.of(given["profile"], given.get("faults", ()), _instance(given["instance"]))
        values: dict[str, Any] = {name: _FROM_TEXT[name](given[name]) for name in own if name in given}
        return kind(world=world, **values)
    except ModelCheckError as error:
        msg = f"{place}: {error}"
        raise BadFile(msg) from error


def _require_fields(place: str, given: Mapping[str, Any], known: Mapping[str, bool]) -> None:
    """Refuse a table with a field that is not known, or without one that is needed."""
    for name in given:
        if name not in known:
            msg = f"{place}: unknown field {name!r}; there are {', '.join(known)}"
            raise BadFile(msg)
    for name, is_needed in known.items():
        if is_needed and name not in given:
            msg = f"{place}: {name} is missing"
            raise BadFile(msg)


def _instance(name: str) -> Instance:
    """An instance by its name, or from a file by its path in the repository."""
    if not name.endswith(".toml"):
        return load_instance(name)
    return replace(load_instance(str(Path(__file__).parents[2] / name)), name=name)


def _clause(name: str) -> Property:
    require_known("clause", name, clauses_by_name())
    return clauses_by_name()[name]


def _response(name: str) -> Response:
    known = {one.name: one for one in TRANSACTIONAL_MESSAGES.responses}
    require_known("response", name, known)
    return known[name]


def _profiles(names: Iterable[str]) -> tuple[Profile, ...]:
    return tuple(map(Profile.of, names))


_FROM_TEXT: Final[Mapping[str, Callable[[Any], object]]] = {
    "repaired_in": Profile.of,
    "shows": tuple,
    "takes_long": bool,
    "clause": _clause,
    "also_in": _profiles,
    "also_repaired_in": _profiles,
    "most_states": int,
    "later_on": load_instance,
    "response": _response,
    "vanishes": str,
}
"""Field of a question → the parser of its text."""
