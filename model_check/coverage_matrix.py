"""Coverage joined over many worlds of one instance: which rules no version needs in any environment.

The worlds, and what may stay uncovered in all of them, are in `verdicts/results/uncovered.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from document.markdown import markdown
from document.parts import Heading, Paragraph, Part, prose, tabulated
from files.content import read_toml
from files.errors import BadContentError
from model_check.check import check
from model_check.errors import BadFile
from model_check.guard_coverage import Coverage, Uncovered, coverage_of
from model_check.instances import instance_names, refuse_crowd
from model_check.question import Question
from model_check.world import World
from spec.constants import FAULTS, SWITCHES, Instance
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.finding import Finding

OWN_FILE: Final = Path(__file__).with_name("verdicts") / "results" / "uncovered.toml"


@dataclass(frozen=True, slots=True)
class Accepted:
    """Something that may stay uncovered, and why."""

    what: Uncovered
    reason: str


@dataclass(frozen=True, slots=True)
class Expected:
    """The part of the file about one instance."""

    worlds: tuple[World, ...]
    """Each profile in the quiet world, with each single fault and with each named pair, of profiles with the same
    switches the first; then more worlds, such as a profile with a repair."""
    accepted: tuple[Accepted, ...]


def read_expected(instance: Instance, file: Path | None = None) -> Expected:
    """Read the file that comes with the specification, or another one of its form.

    Raises `BadFile` when it is not TOML, or names something that does not exist. A world that names no instance is on
    the given one.
    """
    name = str(file or f"model_check/verdicts/results/{OWN_FILE.name}")
    try:
        given = read_toml(file or OWN_FILE)
    except OSError as error:
        msg = f"{name}: {error.strerror}"
        raise BadFile(msg) from error
    except BadContentError as error:
        msg = str(error)
        raise BadFile(msg) from error
    _known(name, "key", given, ("pairs", "world", "accepted"))
    for pair in given.get("pairs", []):
        _known(name, "fault", pair, FAULTS)
    environments = [(), *((fault,) for fault in FAULTS), *given.get("pairs", [])]
    worlds = [World.of(profile, faults, instance) for profile in distinct(PROFILES) for faults in environments]
    worlds += [_world(name, row, instance) for row in given.get("world", [])]
    rows = given.get("accepted", [])
    for row in rows:
        _known(name, "key of what is accepted", row, ("action", "rule", "reason", "instances"))
        if not row.get("action") or not row.get("reason"):
            msg = f"{name}: what is accepted has an action and a reason; this has not: {row}"
            raise BadFile(msg)
    mine = [row for row in rows if instance.name in (row.get("instances") or [instance.name])]
    return Expected(
        tuple(worlds), tuple(Accepted(Uncovered(row["action"], row.get("rule")), row["reason"]) for row in mine)
    )


def _world(name: str, row: dict[str, Any], instance: Instance) -> World:
    _known(name, "key of a world", row, ("profile", "faults", "switches", "instance"))
    _known(name, "profile", [row.get("profile")], tuple(PROFILES))
    _known(name, "fault", row.get("faults", []), FAULTS)
    _known(name, "switch", row.get("switches", []), SWITCHES)
    if "instance" in row:
        _known(name, "instance", [row["instance"]], instance_names())
    profile = "+".join([row["profile"], *row.get("switches", [])])
    return World.of(profile, row.get("faults", []), row.get("instance", instance))


def _known(name: str, what: str, given: Iterable[Any], known: tuple[str, ...]) -> None:
    for value in given:
        if value not in known:
            msg = f"{name}: no {what} {value!r}; there are {', '.join(known)}"
            raise BadFile(msg)


@dataclass(frozen=True, slots=True)
class CoverageMatrix:
    """The coverage of all worlds together."""

    instance: Instance
    """The one that was asked about; some worlds are on others."""
    searches: tuple[tuple[Finding, int], ...]
    """Each finding, and how many gaps were left behind it."""
    coverage: Coverage
    """The sum of their counts."""
    accepted: tuple[Accepted, ...]
    """Gaps with a reason."""
    unexplained: tuple[Uncovered, ...]
    """Gaps without one."""
    outdated: tuple[Accepted, ...]
    """Gaps that are accepted and are none, or are no rules of the specification."""

    @property
    def is_explained(self) -> bool:
        """Whether the gaps are exactly those that are accepted."""
        return not self.unexplained and not self.outdated

    def to_json(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "instance": self.instance.name,
            "worlds": [
                {
                    "profile": finding.world.profile.unturned,
                    "switches": [turn[1:] for turn in finding.world.profile.turned],
                    "environment": list(finding.world.environment),
                    "instance": finding.world.instance.name,
                    "distinct": finding.numbers.distinct,
                    "complete": finding.numbers.complete,
                }
                for finding, _ in self.searches
            ],
            "coverage": self.coverage.to_json(),
            "accepted": [{**asdict(a.what), "reason": a.reason} for a in self.accepted],
            "unexplained": [asdict(gap) for gap in self.unexplained],
            "outdated": [{**asdict(a.what), "reason": a.reason} for a in self.outdated],
        }


def cover_matrix(
    instance: Instance,
    expected: Expected,
    *,
    threads: int = 1,
    most_states: int | None = None,
    report: Callable[[Finding, int], None] | None = None,
) -> CoverageMatrix:
    """Search all worlds of an instance and join what they cover.

    A search that has stored `most_states` is left: what it has covered by then is covered, and the counts are the same
    on each run with one thread only. `report` is called after each search, with the gaps that are left. Raises
    `EvaluationError` when a value leaves its declared range, and `ModelCheckError` where one is crowded.
    """
    machine = TRANSACTIONAL_MESSAGES
    total = empty = coverage_of(machine, 0, {}, {}, [0] * (len(machine.clauses) + len(machine.witnesses)))
    searches: list[tuple[Finding, int]] = []
    for world in expected.worlds:
        refuse_crowd(world.instance, "the gaps of all worlds are those of what brokers do; --profile asks about one")
        question = Question(world=world, paths=(), most_states=most_states, coverage=True)
        finding = check(question, threads=threads)
        total += finding.coverage or empty
        searches.append((finding, len(total.uncovered())))
        if report is not None:
            report(*searches[-1])
    gaps = total.uncovered()
    explained = {accepted.what for accepted in expected.accepted}
    return CoverageMatrix(
        instance,
        tuple(searches),
        total,
        tuple(accepted for accepted in expected.accepted if accepted.what in gaps),
        tuple(gap for gap in gaps if gap not in explained),
        tuple(accepted for accepted in expected.accepted if accepted.what not in gaps),
    )


HEAD = """# Coverage

Generated by `make coverage`; not to be edited.

A rule of a guard is *first false* in a state and for a choice of the action's parameters when it is false there and all
rules before it are true. A rule that is never the first to be false could be left out without a change; an action that
is never *enabled* does not exist. Counted are pairs of a state and a choice of parameters.
"""


def coverage_page(result: CoverageMatrix, most_states: int) -> str:
    """The page: gaps and their reasons, each action with its rules, the clauses and witnesses, and the searches."""
    return markdown(
        [*prose(HEAD), *_gaps(result), *_actions(result), *_claims(result), *_searches(result, most_states)]
    )


def _gaps(result: CoverageMatrix) -> Iterator[Part]:
    rules = sum(len(action.conjuncts) for action in result.coverage.actions)
    yield Paragraph(
        f"On the instance `{result.instance.name}`, over {len(result.searches)} worlds, {len(result.coverage.actions)} "
        f"actions with {rules} rules leave these gaps:"
    )
    gaps = [(one.what, one.reason) for one in result.accepted]
    gaps += [(gap, "**not accepted**") for gap in result.unexplained]
    rows = [(f"`{gap.action}`", gap.rule or "never enabled", reason) for gap, reason in gaps]
    yield tabulated("action", "gap", "accepted, because", rows=rows)


def _actions(result: CoverageMatrix) -> Iterator[Part]:
    yield Heading("Actions and their rules")
    rows = []
    for action in result.coverage.actions:
        rows.append((f"**`{action.name}`**", "", "*enabled*", f"**{action.enabled:,}**"))
        rows += [("", each.kind, each.label, f"{each.first_false:,}") for each in action.conjuncts]
    yield tabulated("action", "kind", "rule", ">first false", rows=rows)


def _claims(result: CoverageMatrix) -> Iterator[Part]:
    yield Heading("Clauses and witnesses")
    for what, verb, states in (
        ("clause", "violate", result.coverage.violated),
        ("witness", "show", result.coverage.witnessed),
    ):
        rows = [(f"`{name}`", f"{number:,}") for name, number in states.items()]
        yield tabulated(what, f">states that {verb} it", rows=rows)


def _searches(result: CoverageMatrix, most_states: int) -> Iterator[Part]:
    yield Heading("Worlds")
    yield Paragraph(f"A search that has stored {most_states:,} states is left: what it has covered by then is covered.")
    rows = []
    for finding, gaps in result.searches:
        world, numbers = finding.world, finding.numbers
        environment = ", ".join(world.environment) or "quiet"
        if world.instance != result.instance:
            environment += f", on `{world.instance.name}`"
        complete = "yes" if numbers.complete else "no"
        rows.append((world.profile.name, environment, f"{numbers.distinct:,}", complete, gaps))
    yield tabulated("version", "environment", ">states", "all of them", ">gaps left", rows=rows)
