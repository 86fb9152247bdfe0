"""Ten worlds of different releases, faults and weights: each chain solved by SciPy and by Storm, and walked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import nan
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.probabilities.kept import KEPT, kept
from benchmarks.probabilities.storm import asked_of_storm
from model_check.clauses import chosen_clauses
from model_check.probabilities.answer import answer_of
from model_check.probabilities.chain import chain_of
from model_check.probabilities.drn import write_drn
from model_check.probabilities.sampled import SampledShare, sampled_shares
from model_check.probabilities.weights import Weights, read_weights, usual
from model_check.world import Environment, World

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from model_check.probabilities.answer import ClauseProbability

FILES: Final = Path(__file__).with_name("weights")
STEPS: Final = 60
MOST_STATES: Final = 2_000_000


class WeighedWorld(NamedTuple):
    """A world with the weights of its actions, each by its name."""

    profile: str
    faults: str
    instance: str
    weights: str
    """A file here; the usual ones where it is empty."""

    @property
    def world(self) -> World:
        """The world."""
        return World.of(self.profile, Environment.named(self.faults), self.instance)

    @property
    def given(self) -> Weights:
        """The weights."""
        return read_weights(FILES / f"{self.weights}.toml") if self.weights else usual()

    @property
    def file_name(self) -> str:
        """What it is called in `KEPT`."""
        return "-".join(filter(None, self))

    def __str__(self) -> str:
        return f"{self.world.title}, weights {self.weights or 'usual'}"


WORLDS: Final = (
    WeighedWorld("4.5.1", "quiet", "tiny", ""),
    WeighedWorld("4.9.7", "quiet", "small", "slow_producers"),
    WeighedWorld("4.9.7", "put_failure,op_write_failure", "odd", ""),
    WeighedWorld("5.3.3", "crash", "tiny", ""),
    WeighedWorld("5.5.0", "slow_round", "patient", "rare_faults"),
    WeighedWorld("5.3.3", "clock_step", "odd", "slow_producers"),
    WeighedWorld("5.4.0", "lose_end", "tiny", "lossy_network"),
    WeighedWorld("5.5.0", "slow_local", "odd", ""),
    WeighedWorld("5.5.1", "restart_proxy", "proxied", ""),
    WeighedWorld("5.5.1", "power_loss", "odd", ""),
)


def value_within(row: ClauseProbability) -> float:
    """The probability within the steps; no number where it was not asked for."""
    return nan if row.within is None else row.within.value


@dataclass(frozen=True)
class ComparedClause:
    """The probabilities of a clause, and what was held against them."""

    clause: str
    ever: float
    within: float
    differs: float  # the larger relative difference to Storm, of both
    hits: int
    walks: int

    def is_held(self, confidence: float) -> bool:
        """Whether the interval of the walks holds the probability within the steps."""
        low, high = self.sampled.interval(confidence)
        return low <= self.within <= high

    @property
    def sampled(self) -> SampledShare:
        """The share of the walks."""
        return SampledShare(self.hits, self.walks)


@dataclass(frozen=True)
class Compared:
    """A world, solved, walked, and solved again by Storm."""

    title: str
    weights: str
    states: int
    transitions: int
    seconds: float
    storm_version: str
    storm_seconds: float
    walk_seconds: float
    clauses: Sequence[ComparedClause]

    def are_all_held(self) -> bool:
        """Whether all intervals hold their probability, where each is so wide that all do with 95 %."""
        return all(one.is_held(1 - 0.05 / len(self.clauses)) for one in self.clauses)


def _relative(ours: float, theirs: float | Fraction) -> float:
    return float(abs(ours - theirs) / theirs) if theirs else abs(ours)


def compared(weighed: WeighedWorld, *, walks: int, seed: int, file: Path) -> Compared:
    """Do it for one world; `file` is written on the way, for Storm."""
    world, given = weighed.world, weighed.given
    clauses = chosen_clauses(())
    chain = chain_of(world, given, MOST_STATES)
    answer = answer_of(chain, clauses, STEPS)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_drn(chain, clauses, file)
    storm = asked_of_storm(file, STEPS, [row.name for row in answer.rows])
    began = perf_counter()
    sampled = sampled_shares(world, given, walks, STEPS, seed)
    rows = []
    for row in answer.rows:
        ever, within = row.ever.value, value_within(row)
        differs = max(_relative(ever, storm.ever[row.name]), _relative(within, storm.within[row.name]))
        rows.append(ComparedClause(row.name, ever, within, differs, sampled[row.clause].hits, walks))
    return Compared(
        world.title,
        weighed.weights or "usual",
        answer.states,
        answer.transitions,
        answer.seconds,
        storm.version,
        storm.seconds,
        perf_counter() - began,
        rows,
    )


def compared_world_of(number: int, walks: int) -> Any:
    """The world of this number as plain data, kept."""

    def make() -> Any:
        return asdict(compared(WORLDS[number], walks=walks, seed=number, file=KEPT / f"chain-{number}.drn"))

    return kept(f"{WORLDS[number].file_name}-{walks}", make)
