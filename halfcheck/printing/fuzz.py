"""What a campaign in lockstep has found, and who killed which mutant, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.parts import Names, Paragraph, Tone, tabulated
from document.words import counted
from halfcheck.printing.counterexample import counterexample_table
from model_check.counterexample.steps import replay

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from document.parts import Part
    from fuzz.mutants.kill_table import HuntResult
    from fuzz.search.campaign import Campaign


def outcome_of(campaign: Campaign, *, visited_all: bool) -> Iterator[Part]:
    """Whether the two agree, and how much they were asked; or the counterexample."""
    done, coverage, pairing = campaign.done, campaign.coverage, campaign.pairing
    world = pairing.world
    if campaign.failure is None:
        yield Paragraph("specification and broker agree", Tone.TITLE)
    yield Paragraph(
        f"RocketMQ {world.profile} {world.environment.beside_a_profile}, instance {world.instance.name}, "
        f"seed {campaign.random_seed}"
    )
    rate = done.steps / max(done.seconds, 1e-9)
    yield Paragraph(
        f"{done.examples:,} examples, {done.steps:,} steps of specification and broker; "
        f"{done.seconds:.1f} s, {rate:,.0f} steps/s"
    )
    if campaign.failure is not None:
        yield counterexample_table(replay(pairing.machine, pairing.constants, campaign.failure.script.steps).events)
        yield Paragraph(str(campaign.failure.mismatch), Tone.BAD)
        return
    rules, actions = len(coverage.guards.open), len(coverage.guards.allowed)
    yield Paragraph(f"guards: {coverage.conjuncts_seen} of {rules} conjuncts were once the first to be false")
    yield Paragraph(f"actions: {coverage.actions_seen} of {actions} were possible")
    if campaign.states is not None:
        states, where = campaign.states, campaign.states.world
        yield Paragraph(
            f"states of {where.instance.name} with {', '.join(where.environment)}: {states.seen:,} of the "
            f"{states.reachable:,} that a search finds ({states.share:.1%}), {states.drawn:,} of them by chance"
        )
        for schedule in states.missing if visited_all else ():
            yield Paragraph(f"not reached: {schedule}")
    if coverage.never_enabled:
        count = len(coverage.never_enabled)
        was = f"{counted(count, 'action')} {'was' if count == 1 else 'were'}"
        yield Names(f"warning: {was} never possible", tuple(coverage.never_enabled))


def kill_table(kills: Sequence[HuntResult]) -> Iterator[Part]:
    """A row a mutant, and how many were killed."""
    rows = [
        (
            *(kill.mutant.part.value, kill.mutant.name, " ".join(kill.mutant.resembles)),
            *((kill.variable, kill.step) if kill.variable else ("SURVIVES", "")),
            *(f"{kill.examples:,}", f"{kill.seconds:.2f}"),
        )
        for kill in kills
    ]
    yield tabulated("part", "mutant", "from", "killed by", "~at", ">examples", ">s", rows=rows)
    yield Paragraph(f"{sum(bool(kill.variable) for kill in kills)} of {len(kills)} mutants killed")
