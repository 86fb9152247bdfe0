"""``halfcheck odds``: how likely a run of a small world is to violate each clause, exactly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from document.console import show
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import (
    AsJson,
    Faults,
    InstanceName,
    Properties,
    Release,
    Seed,
    asked_aloud,
    environment_of,
    instances_of,
    print_json,
    say_choice,
)
from halfcheck.printing.progress import counting, live_line


def command(
    *,
    profile: Release = None,
    faults: Faults = "",
    instance: InstanceName = None,
    properties: Properties = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML that says how likely actions are: weights, or how many ticks each waits. Nothing: the weights "
            "of simulate --choice weighted.",
        ),
    ] = None,
    within: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, metavar="STEPS", help="Say it of the first so many steps, too.")
    ] = None,
    walks: Annotated[
        int, typer.Option(min=0, max=10**9, help="Take so many random walks of --within steps beside it.")
    ] = 0,
    populations: Annotated[
        int,
        typer.Option(
            min=0, max=10_000, help="Take so many populations of walks that are split near rare violations, 3 at least."
        ),
    ] = 0,
    seed: Seed = 7,
    max_states: Annotated[
        int, typer.Option(min=2, help="Stop when so many states are found; what the rest may add is said.")
    ] = 5_000_000,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the chain for Storm, in its format DRN (FILE.drn).")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Say how likely a run is to violate each clause: the Markov chain of all states, solved.

    Of the steps that are enabled, each is taken with the probability that its weight has among theirs. So an action
    that stays enabled waits for a geometric number of ticks, whose mean is the weight of tick divided by its own.

    The exit code is 255 when states were left out, and 0 otherwise.

    Examples
    --------
    halfcheck odds --profile 5.3.3 --faults crash
    halfcheck odds --profile 5.3.3 --faults crash,lose_end --weights rare_faults.toml --property S1
    halfcheck odds --profile 5.3.3 --faults crash --within 60 --walks 100000 --populations 20
    halfcheck odds --profile 5.3.3 --faults crash --export chain.drn
    """
    from model_check.clauses import chosen_clauses
    from model_check.instances import load_instance
    from model_check.probabilities.answer import answer_of
    from model_check.probabilities.chain import chain_of
    from model_check.probabilities.drn import refuse_other_names, write_drn
    from model_check.probabilities.sampled import sampled_shares, split_shares
    from model_check.probabilities.weights import read_weights, usual
    from model_check.walks.guided.walker import GuidedWalker
    from model_check.world import World

    _require_steps(within, walks, populations)
    if export is not None:
        refuse_other_names(export)
    clauses = chosen_clauses(properties or ())
    given = usual() if weights is None else read_weights(weights)
    asked, environment, sizes = asked_aloud(profile), environment_of(faults), instances_of(instance)
    if not sizes:
        sizes = (load_instance("tiny"),)
        say_choice(sizes[0], "the smallest")
    world = World(asked.profile, environment, sizes[0])
    with live_line(f"{world}: making the search ready", wanted=not as_json) as tell:
        chain = chain_of(world, given, max_states, counting(tell, f"{world}: states expanded"))
        found = answer_of(chain, clauses, within, counting(tell, f"{world}: clauses solved"))
        if export is not None:
            if tell is not None:
                tell(f"{world}: writing {export}")
            write_drn(chain, clauses, export)
        if within is not None and walks:
            shares = sampled_shares(world, given, walks, within, seed, counting(tell, f"{world}: walks"))
            found = replace(found, sampled=shares)
        if within is not None and populations:
            walker = GuidedWalker(world, given.whole)
            split = split_shares(walker, populations, within, seed, counting(tell, f"{world}: populations"))
            found = replace(found, split=split)
    if as_json:
        print_json(found.to_json())
    else:
        from halfcheck.printing.odds import odds

        show(odds(found))
    return ExitCode.OK if found.is_whole else ExitCode.OTHER


def _require_steps(within: int | None, walks: int, populations: int) -> None:
    from model_check.walks.guided.walker import MOST_STEPS

    for option, count in (("--walks", walks), ("--populations", populations)):
        if count and within is None:
            message = f"{option} {count}: give --within STEPS, too, as a walk has an end"
            raise CommandLineError(message)
    if populations in (1, 2):
        message = f"--populations {populations}: give 3 at least; the first one is plain, and an interval takes two"
        raise CommandLineError(message)
    if populations and within is not None and within > MOST_STEPS:
        message = f"--within {within}: expected at most {MOST_STEPS} with --populations, which hold whole walks"
        raise CommandLineError(message)
