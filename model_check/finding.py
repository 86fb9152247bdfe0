"""Findings of an engine in a world: numbers, and a verdict on each clause that it was asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from document.words import counted
from model_check.clauses import name_of
from model_check.counterexample.steps import Replay, write_path

if TYPE_CHECKING:
    from model_check.guard_coverage import Coverage
    from model_check.world import Environment, Profile, World
    from spec.constants import Instance
    from spec.language import Property, Step


SCHEMA: Final = Path(__file__).with_name("check_schema.json")
"""The JSON Schema of `Finding.to_json`."""


class Verdict(Enum):
    """Three values: a search that was cut short can find a violation but not its absence."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Numbers:
    """How large a search was."""

    distinct: int
    """States, the initial one included."""
    generated: int
    """Successors, the initial state included."""
    depth: int
    """Steps to the deepest state."""
    complete: bool
    """Whether every reachable state was expanded."""
    seconds: float = 0.0
    """Of the search."""
    compile_seconds: float = 0.0
    """Of making it ready."""
    peak_bytes: int = 0
    """Bytes of the states and the hash table (0 in the CPython engine, which does not count)."""
    disk_bytes: int = 0
    """Bytes of the states that have left the memory."""
    resumed_from: int = 0
    """States of the checkpoint from which the search went on; 0 without one."""
    collision_probability: float | None = None
    """The probability, at most, that a fingerprint stands for two states; None where words are compared."""

    @classmethod
    def of(cls, explored: object) -> Numbers:
        """Of what an engine has explored, as far as it counts such things."""
        return cls(**{one.name: getattr(explored, one.name) for one in fields(cls) if hasattr(explored, one.name)})

    @property
    def states_per_second(self) -> int:
        """Distinct states a second, compiling excluded."""
        return round(self.distinct / max(self.seconds, 1e-9))

    @classmethod
    def together(cls, searches: Sequence[Numbers]) -> Numbers:
        """Of several searches: sums; of depth and memory the largest; complete if all of them are."""
        misses = [one.collision_probability for one in searches if one.collision_probability is not None]
        return cls(
            sum(one.distinct for one in searches),
            sum(one.generated for one in searches),
            max(one.depth for one in searches),
            all(one.complete for one in searches),
            sum(one.seconds for one in searches),
            sum(one.compile_seconds for one in searches),
            max(one.peak_bytes for one in searches),
            max(one.disk_bytes for one in searches),
            searches[0].resumed_from,
            min(1.0, sum(misses)) if misses else None,
        )

    def size_to_json(self) -> dict[str, Any]:
        """The states as plain data."""
        return {name: getattr(self, name) for name in ("distinct", "generated", "depth", "complete")}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The sizes of a search, and how much of it was seen: no two instances lend each other a size."""

    instance: str
    """Its name."""
    transactions: int
    half_slots: int
    op_slots: int
    checks: int
    """transactionCheckMax."""
    ticks: int
    """The longest of its times."""
    immunities: bool
    """Whether a message may have one."""
    any_length: bool
    """Whether what is over is forgotten, so that runs have any length: `transactions` is how many are alive at a time,
    the slots hold what is not forgotten."""
    any_number: bool
    """Whether the one transaction is among others, so that it stands for each of any number."""
    reach: int
    """How many places back faults reach; -1 where nothing bounds it."""
    crashes: int
    """How often the broker may crash; -1 where nothing bounds it."""
    mishaps: int
    """How often something else may go wrong in the broker."""
    states: int
    """So many were seen."""
    complete: bool
    """Whether these are all."""

    COUNTED: ClassVar = ("transactions", "half_slots", "op_slots", "checks", "ticks")

    @classmethod
    def of(cls, size: Instance, numbers: Numbers) -> Bounds:
        """Of the search of one instance."""
        return cls(
            size.name,
            size.transactions,
            size.half_slots,
            size.op_slots,
            size.check_max,
            max(size.timeout, *size.immunities, size.check_interval, size.reserved_time),
            size.longest_immunity > 0,
            bool(size.forgets),
            bool(size.crowded),
            size.reach,
            size.crashes,
            size.mishaps,
            numbers.distinct,
            numbers.complete,
        )

    def covers(self, other: Bounds) -> bool:
        """Whether all that can be said of the other in sizes can be said of this one."""
        return (
            (self.any_number, self.any_length, self.complete) == (other.any_number, other.any_length, other.complete)
            and self.immunities >= other.immunities
            and all(getattr(self, name) >= getattr(other, name) for name in self.COUNTED)
        )

    @classmethod
    def uncovered(cls, bounds: Sequence[Bounds]) -> tuple[Bounds, ...]:
        """Those that no other one covers."""
        return tuple(
            size
            for number, size in enumerate(bounds)
            if not any(
                other.covers(size) and (at < number or not size.covers(other))
                for at, other in enumerate(bounds)
                if at != number
            )
        )

    @classmethod
    def largest(cls, bounds: Sequence[Bounds]) -> dict[str, int]:
        """The largest of each size; they were not searched together."""
        return {name: max(getattr(size, name) for size in bounds) for name in cls.COUNTED}

    def in_words(self, environment: Environment) -> str:
        """The sizes, and what bounds these faults."""
        most = [f"the first {self.states:,} states of it"] if not self.complete else []
        alive = " alive at a time" if self.any_length and not self.any_number else ""
        length = ", in runs of any length" if self.any_length else ""
        number = "any number of transactions" if self.any_number else counted(self.transactions, "transaction")
        parts = [*most, f"{number}{alive}{length}"]
        if not self.any_length:
            parts += [counted(self.half_slots, "half slot"), counted(self.op_slots, "op slot")]
        parts += [counted(self.checks, "check"), f"times of up to {counted(self.ticks, 'tick')}"]
        parts.append("with immunities" if self.immunities else "no immunities")
        if self.any_length and environment and self.reach >= 0:
            parts.append(f"faults that reach {counted(self.reach, 'place')} back")
        if self.any_number and environment:
            parts.append(f"at most {counted(self.mishaps, 'mishap')}")
        if "crash" in environment and self.crashes >= 0:
            parts.append(f"at most {self.crashes} {'crash' if self.crashes == 1 else 'crashes'}")
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The sizes as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Violated:
    """A clause that is violated."""

    clause: Property
    depth: int
    """Steps of the shortest violation."""
    world: World
    """Where it is; an instance that forgets is unfolded into one that has room for the path."""
    path: tuple[Step, ...] = ()
    """The first of the shortest; empty where only the depth is known."""
    replay: Replay | None = None
    """That path, taken step by step in the CPython engine."""
    resembles: tuple[str, ...] = ()
    """The known defects that the path shows; empty until an answer names them (`model_check.defects.resemblance`)."""

    verdict: ClassVar = Verdict.VIOLATED
    why: ClassVar = ""

    @property
    def name(self) -> str:
        """Of its clause, such as `S1.immune_half`."""
        return name_of(self.clause)

    @property
    def steps(self) -> str:
        """The path as text."""
        return write_path(self.path)

    @property
    def command(self) -> str:
        """The command that takes the path again."""
        return f'halfcheck replay {self.world.options} --steps "{self.steps}"'

    def trace_to_json(self) -> list[dict[str, Any]]:
        """The events of the path as plain data."""
        return [] if self.replay is None else [event.to_json() for event in self.replay.events]


@dataclass(frozen=True, slots=True)
class _Unbroken:
    """A clause without a violation."""

    clause: Property

    depth: ClassVar = None
    path: ClassVar = None
    replay: ClassVar = None
    resembles: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """Of its clause."""
        return name_of(self.clause)


@dataclass(frozen=True, slots=True)
class Holds(_Unbroken):
    """A clause that no reachable state breaks, to the bounds of each search by itself."""

    bounds: tuple[Bounds, ...]

    @property
    def for_any_number(self) -> bool:
        """Whether it holds for any number of transactions, in runs of any length."""
        return all(one.any_number and one.any_length for one in self.bounds)

    verdict: ClassVar = Verdict.HOLDS
    why: ClassVar = ""


@dataclass(frozen=True, slots=True)
class Unknown(_Unbroken):
    """A clause that is not violated by what was seen, and why that does not say that it holds."""

    why: str

    verdict: ClassVar = Verdict.UNKNOWN


Row = Violated | Holds | Unknown
"""The verdict on one clause."""


@dataclass(frozen=True)
class Finding:
    """The finding of a search."""

    world: World
    rows: tuple[Row, ...]
    """In the order of the machine's clauses."""
    numbers: Numbers
    unseen: tuple[Property, ...] = ()
    """Witnesses that no state is: the property may hold for want of anything to speak of."""
    coverage: Coverage | None = None
    """Of all actions and properties over the states found; only where it was asked for."""

    @cached_property
    def violated(self) -> dict[Property, Violated]:
        """By its clause what is violated."""
        return {row.clause: row for row in self.rows if isinstance(row, Violated)}

    @property
    def undecided(self) -> str:
        """Why what is not violated is not known to hold; empty if it is."""
        return next((row.why for row in self.rows if isinstance(row, Unknown)), "")

    @property
    def bounds(self) -> Bounds:
        """The sizes that were searched."""
        return Bounds.of(self.world.instance, self.numbers)

    def to_json(self) -> dict[str, Any]:
        """The finding as plain data (`check_schema.json`); a property is violated with any of its clauses."""
        numbers = self.numbers
        content: dict[str, Any] = {
            "profile": self.world.profile.name,
            "environment": list(self.world.environment),
            "instance": self.world.sizes_to_json(),
            "properties": self._properties_to_json(),
            **numbers.size_to_json(),
            "seconds": round(numbers.seconds, 6),
            "compile_seconds": round(numbers.compile_seconds, 3),
            "states_per_second": numbers.states_per_second,
            "peak_bytes": numbers.peak_bytes,
            "disk_bytes": numbers.disk_bytes,
            "resumed_from": numbers.resumed_from,
            "collision_probability": numbers.collision_probability,
            "unseen_witnesses": [witness.name for witness in self.unseen],
        }
        return content if self.coverage is None else {**content, "coverage": self.coverage.to_json()}

    def _properties_to_json(self) -> dict[str, Any]:
        """The counterexample of a property is the shortest of its clauses'."""
        properties: dict[str, Any] = {}
        for identifier in dict.fromkeys(row.clause.identifier for row in self.rows):
            mine = [row for row in self.rows if row.clause.identifier == identifier]
            violated = sorted((row for row in mine if isinstance(row, Violated)), key=lambda row: row.depth)
            shown = violated[0] if violated else None
            is_known = self.numbers.complete and not any(isinstance(row, Unknown) for row in mine)
            verdict = Verdict.VIOLATED if violated else Verdict.HOLDS if is_known else Verdict.UNKNOWN
            properties[identifier] = {
                "verdict": verdict.value,
                "depth": None if shown is None else shown.depth,
                "clause": None if shown is None else shown.clause.clause,
                "resembles": list(dict.fromkeys(one for row in violated for one in row.resembles)),
                "trace": [] if shown is None else shown.trace_to_json(),
                "replay": None if shown is None else shown.command,
                "clauses": {row.clause.clause: _row_to_json(row) for row in mine},
            }
        return properties

    def in_profile(self, profile: Profile) -> Finding:
        """The same, of a profile that does the same in this world."""
        rows = tuple(
            replace(row, world=row.world.in_profile(profile)) if isinstance(row, Violated) else row for row in self.rows
        )
        return replace(self, world=self.world.in_profile(profile), rows=rows)

    def has(self, clause: Property) -> bool:
        """Whether the clause was asked about."""
        return clause in self._by_clause

    def __getitem__(self, clause: Property) -> Row:
        return self._by_clause[clause]

    @cached_property
    def _by_clause(self) -> dict[Property, Row]:
        return {row.clause: row for row in self.rows}


def _row_to_json(row: Row) -> dict[str, Any]:
    return {
        "verdict": row.verdict.value,
        "depth": row.depth,
        "resembles": list(row.resembles),
        "rule": row.clause.sentence,
        "reason": row.why,
        "trace": row.trace_to_json() if isinstance(row, Violated) else [],
        "replay": row.command if isinstance(row, Violated) else None,
    }
