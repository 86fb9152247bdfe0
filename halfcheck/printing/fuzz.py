"""What a campaign in lockstep has found, and who killed which mutant, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from halfcheck.printing.console import counted, counterexample_table, listed, say, wide_console
from halfcheck.printing.fitting_table import FittingTable
from model_check.counterexample.steps import replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from fuzz.lockstep.pairing import Pairing
    from fuzz.mutants.kill_table import HuntResult
    from fuzz.search.campaign import Campaign
    from fuzz.search.examples import FuzzFailure


def print_campaign(campaign: Campaign, *, visited_all: bool) -> None:
    """Whether the two agree, and how much they were asked; or the counterexample."""
    console = wide_console()
    done, coverage, world = campaign.done, campaign.coverage, campaign.pairing.world
    if campaign.failure is None:
        say(console, "specification and broker agree", "bold")
    say(
        console,
        f"RocketMQ {world.profile} {world.environment.beside_a_profile}, instance {world.instance.name}, "
        f"seed {campaign.random_seed}",
    )
    rate = done.steps / max(done.seconds, 1e-9)
    console.print(
        f"{done.examples:,} examples, {done.steps:,} steps of specification and broker; "
        f"{done.seconds:.1f} s, {rate:,.0f} steps/s"
    )
    if campaign.failure is not None:
        _print_failure(console, campaign.pairing, campaign.failure)
        return
    rules, actions = len(coverage.guards.open), len(coverage.guards.allowed)
    console.print(f"guards: {coverage.conjuncts_seen} of {rules} conjuncts were once the first to be false")
    console.print(f"actions: {coverage.actions_seen} of {actions} were possible")
    if campaign.states is not None:
        states = campaign.states
        console.print(
            f"states of {states.world.instance.name} with {', '.join(states.world.environment)}: {states.seen:,} of the "
            f"{states.reachable:,} that a search finds ({states.share:.1%}), {states.drawn:,} of them by chance"
        )
        if visited_all:
            for schedule in states.missing:
                console.print(f"not reached: {schedule}")
    if coverage.never_enabled:
        count = len(coverage.never_enabled)
        was = f"{counted(count, 'action')} {'was' if count == 1 else 'were'}"
        listed(console, f"warning: {was} never possible", coverage.never_enabled)


def _print_failure(console: Console, pairing: Pairing, failure: FuzzFailure) -> None:
    console.print(counterexample_table(replay(pairing.machine, pairing.constants, failure.script.steps).events))
    console.print(Text(str(failure.mismatch), style="bold red"))


def print_kills(kills: Sequence[HuntResult]) -> None:
    """A row a mutant, and how many were killed."""
    table = FittingTable("part", "mutant", "from", "killed by", "~at", ">examples", ">s")
    for kill in kills:
        part, name = kill.mutant.part.value, kill.mutant.name
        told = (kill.variable, kill.step) if kill.variable else ("SURVIVES", "")
        table.add_row(part, name, " ".join(kill.mutant.resembles), *told, f"{kill.examples:,}", f"{kill.seconds:.2f}")
    console = wide_console()
    console.print(table)
    console.print(f"{sum(bool(kill.variable) for kill in kills)} of {len(kills)} mutants killed")
