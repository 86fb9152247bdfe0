"""The options of ``halfcheck probe``; there are too many for one signature."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from halfcheck.options import PROFILES, AsJson, Faults, Properties, Seed

Target = Annotated[str, typer.Argument(metavar="HOST:PORT", help="The broker's address; not a name server's.")]
ScenarioName = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        metavar="NAME",
        help="outcomes (the usual one), unanswered, twice, contradiction, late, immune, kill, stop; repeatable.",
    ),
]
Counterexample = Annotated[
    list[str] | None,
    typer.Option(metavar="CLAUSE", help="The shortest of the table of verdicts, such as S1.immune_half; repeatable."),
]
Steps = Annotated[str | None, typer.Option(help="Steps as halfcheck replay takes them.")]
InstanceName = Annotated[str, typer.Option("--instance", metavar="NAME", help="The instance of --steps and --walks.")]
Walks = Annotated[int, typer.Option(min=0, max=1_000, help="So many weighted walks of the specification.")]
Examples = Annotated[
    int, typer.Option(min=0, max=1_000, help="So many schedules drawn by Hypothesis, which shrinks the first failure.")
]
Shrink = Annotated[bool, typer.Option("--shrink", help="Make each schedule shorter that fails, as --examples does.")]
ShrinkPlays = Annotated[int, typer.Option(min=0, max=10_000, help="So many plays it may take to shrink a failure.")]
Minutes = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="M", help="--examples and --shrink begin no further play after so long."),
]
StoreFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The broker's store: saved offsets and damage are looked at, and it is audited."),
]
ProfileName = Annotated[
    str | None,
    typer.Option(help=f"{PROFILES}, +NAME or -NAME turns a switch; else the release that the broker says it is."),
]
BesideOthers = Annotated[bool, typer.Option("--beside-others", help="Begin though others have pending halves.")]
Conf = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The broker's settings, where it does not tell them itself.")
]
Known = Annotated[
    str | None,
    typer.Option(
        metavar="X.Y.Z",
        help="What this release does is fine: the exit code is 0 if its specification explains all, guarantees that it "
        "breaks included.",
    ),
]
Command = Annotated[str | None, typer.Option(metavar="CMD", help="A command that does so to the broker's process.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """What a command line asks for."""

    target: Target
    scenario: ScenarioName = None
    counterexample: Counterexample = None
    steps: Steps = None
    walks: Walks = 0
    examples: Examples = 0
    shrink: Shrink = False
    shrink_plays: ShrinkPlays = 40
    minutes: Minutes = None
    properties: Properties = None
    seed: Seed = 7
    instance: InstanceName = "tiny"
    faults: Faults = ""
    profile: ProfileName = None
    known: Known = None
    broker_conf: Conf = None
    store: StoreFolder = None
    beside_others: BesideOthers = False
    kill: Command = None
    stop: Command = None
    start: Command = None
    json: AsJson = False
