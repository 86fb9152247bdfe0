"""``halfcheck check --minimal-repairs``: what it takes to mend a clause; and what is left where a repair is on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from halfcheck.check.check_options import NOT_OF_MANY_WORLDS, CheckOptions, say_who_speaks
from halfcheck.errors import ExitCode
from halfcheck.printing.progress import live_line, portfolio_progress
from model_check.answer import search_portfolio
from model_check.clauses import name_of
from model_check.defects.claims import searched_claims
from model_check.defects.resemblance import repaired_by_hand
from model_check.finding import Verdict
from model_check.verdicts.minimal_repairs import MinimalRepairs, candidates_of, find_minimal_repairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from model_check.answer import Answer
    from model_check.defects.claims import Claim
    from spec.constants import Instance
    from spec.language import Property

MOST_MORE_REPAIRS = 2
"""So many repairs at once are tried beside those that a profile has, to say with which of them a clause holds."""


def run(options: CheckOptions) -> ExitCode:
    """Search, print, and give the exit code."""
    options.refuse(
        (*NOT_OF_MANY_WORLDS, "fresh", "minimal_faults"),
        "does not go with --minimal-repairs, which searches many worlds in memory",
    )
    say_who_speaks(options.asked)
    profile, environment, most = options.asked.profile, options.environment, options.most_repairs
    among = candidates_of(profile, options.with_ or (), options.among or ())
    searched: dict[str, Any] = {
        "instances": options.instances,
        "threads": options.threads,
        "most_states": options.max_states,
    }
    with portfolio_progress(profile.name, wanted=not options.as_json) as report_search:
        itself = search_portfolio(profile, environment, clauses=options.clauses, report=report_search, **searched)
    if itself.is_interrupted:
        raise KeyboardInterrupt
    with live_line("looking for repairs", wanted=not options.as_json) as report:
        found = [
            find_minimal_repairs(
                profile, environment, row.clause, most_repairs=most, among=among, report=report, **searched
            )
            for row in itself.broken
        ]
    if options.as_json:
        print(json.dumps(_to_json(itself, found, most), ensure_ascii=False, indent=2))
    else:
        _print(itself, found, most)
    return ExitCode.of_verdict(is_broken=bool(found), is_complete=itself.whole.numbers.complete)


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a clause where a turned switch of the profile has repaired a defect that breaks it.

    Attributes
    ----------
    repaired, through : tuple of str
        The defects that are repaired, as a search on record shows, and those through which it is still broken.
    claims : tuple of Claim
        What switches say that they repair, and what a search says to that.
    more : MinimalRepairs
        What it takes besides.
    """

    clause: Property
    repaired: tuple[str, ...]
    through: tuple[str, ...]
    more: MinimalRepairs
    claims: tuple[Claim, ...] = ()

    @property
    def name(self) -> str:
        """Of the clause."""
        return name_of(self.clause)

    def __str__(self) -> str:
        verb = "is" if len(self.repaired) == 1 else "are"
        repaired = [f"{_and(self.repaired)} {verb} repaired"] if self.repaired else []
        through = f"still broken through {_and(self.through)}" if self.through else "still broken"
        return f"{self.name}: {'; '.join([*repaired, *map(str, self.claims), through, self._holds_with])}"

    @property
    def _holds_with(self) -> str:
        certain = [" ".join(one.repairs) for one in self.more.sets if one.certain]
        where = f"(searched in {', '.join(self.more.instances)})"
        if certain:
            return f"holds with {' or '.join(certain)} besides {where}"
        if self.more.sets:
            doubtful = " or ".join(" ".join(one.repairs) for one in self.more.sets)
            return f"no violation is found with {doubtful} besides, CUT SHORT {where}"
        return f"{_no_more_than(self.more.most_repairs)} besides mends it"

    def to_json(self) -> dict[str, Any]:
        """What is left as plain data."""
        return {
            "repaired": list(self.repaired),
            "claims": [one.to_json() for one in self.claims],
            "broken_through": list(self.through),
            "holds_with": [list(one.repairs) for one in self.more.sets if one.certain],
            "instances": list(self.more.instances),
        }


def what_is_left(
    answer: Answer, instances: Sequence[Instance] = (), *, threads: int | None = None, wanted: bool = True
) -> list[Left]:
    """What is left of each broken clause of which a turned switch repairs a defect, or says so, after a search.

    Ctrl-C ends it with what was found until then, as the answer that it belongs to is there.

    Parameters
    ----------
    answer
        What was searched.
    instances
        Where more repairs are tried; the portfolio when none is given.
    wanted
        Whether somebody watches.
    """
    world, left = answer.whole.world, list[Left]()
    for row in answer.broken:
        repaired = repaired_by_hand(row.clause, world.profile)
        claims = searched_claims(row.clause, world.profile)
        if not (repaired or claims):
            continue
        try:
            with live_line("looking for repairs", wanted=wanted) as report:
                more = find_minimal_repairs(
                    world.profile,
                    world.environment,
                    row.clause,
                    instances=instances,
                    most_repairs=MOST_MORE_REPAIRS,
                    threads=threads,
                    report=report,
                )
        except KeyboardInterrupt:
            typer.echo(f"halfcheck: interrupted: it was not searched what else {row.name} takes", err=True)
            break
        left.append(Left(row.clause, repaired, row.resembles, more, claims))
    return left


def _no_more_than(most: int) -> str:
    return "no single repair" if most == 1 else f"no set of at most {most} repairs"


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _to_json(itself: Answer, found: Sequence[MinimalRepairs], most_repairs: int) -> dict[str, object]:
    return {
        "profile": itself.whole.world.profile.name,
        "environment": list(itself.whole.world.environment),
        "instances": list(dict.fromkeys(name for one in found for name in one.instances)),
        "most_repairs": most_repairs,
        "clauses": {name_of(one.clause): one.to_json() for one in found},
        "not_violated": [row.name for row in itself.rows if row.verdict is not Verdict.VIOLATED],
    }


def _print(itself: Answer, found: Sequence[MinimalRepairs], most_repairs: int) -> None:
    from rich.text import Text

    from halfcheck.printing.console import beside, counted, wide_console

    console = wide_console()
    world, rest = itself.whole.world, len(itself.rows) - len(found)
    violated = f"{len(found)} of {counted(len(itself.rows), 'clause')} violated"
    console.print(Text(f"RocketMQ {world.profile} {world.environment.beside_a_profile}: {violated}", style="bold"))
    for one in found:
        _print_one(console, one)
    console.print()
    if rest:
        console.print(Text(f"the other {rest} are not violated there" if found else "there is nothing to repair"))
    if found:
        bounds = {size.instance: size for one in found for size in one.bounds}
        searched, ruled_out = sum(one.searched for one in found), sum(one.ruled_out for one in found)
        console.print(
            Text(
                f"all sets of at most {most_repairs} of {len(found[0].candidates)} repairs: {searched:,} searched, "
                f"{ruled_out:,} ruled out by a counterexample"
            )
        )
        if bounds:
            console.print(Text("'holds' is to the bounds of what was searched, each by itself:"))
        for size in bounds.values():
            beside(console, f"  {size.instance}: ", size.in_words(world.environment))


def _print_one(console: Console, one: MinimalRepairs) -> None:
    from rich.text import Text

    from halfcheck.printing.fitting_table import FittingTable

    row = one.broken
    if row is None:
        return
    like = f", {' '.join(row.resembles)}" if row.resembles else ""
    console.print()
    console.print(Text(f"{row.name} ({row.depth} steps in {row.world.instance.name}{like}): {row.clause.sentence}"))
    if one.sets:
        table = FittingTable("holds with", "~repairs of")
        for found in one.sets:
            doubt = "" if found.certain else " (cut short: no violation was found)"
            table.add_row(Text(" ".join(found.repairs), style="green"), f"{' '.join(found.defects)}{doubt}")
        console.print(table)
        return
    all_of_them = {
        Verdict.HOLDS: f"all {len(one.candidates)} together mend it; --most-repairs {one.most_repairs + 1} tries more",
        Verdict.VIOLATED: "all together do not mend it either",
        Verdict.UNKNOWN: "all together broke it nowhere before the search was cut short",
        None: "",
    }[one.with_all]
    console.print(Text(f"{_no_more_than(one.most_repairs)} mends it; {all_of_them}", style="yellow"))
