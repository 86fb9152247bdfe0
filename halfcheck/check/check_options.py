"""What ``halfcheck check`` is asked: one record, an option a field, for all the ways in which it answers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from halfcheck.errors import CommandLineError
from halfcheck.options import PROFILES, USUAL_PROFILE, AsJson, Faults, Properties, names_in
from model_check.asked import Asked, asked_for
from model_check.clauses import chosen_clauses
from model_check.instances import load_instance
from model_check.world import Environment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.engines import Engine
    from model_check.world import Profile
    from spec.constants import Instance
    from spec.language import Property

COMPILED: Final = "numba"
"""The engine that is asked unless another one is named; only it searches many worlds."""

OF_FILES: Final = ("itf", "svg", "mermaid", "pytest")
OF_BROKER_CONF: Final = ("immunity", "local", "suggest")
OF_REPAIRS: Final = ("with_", "among")
OF_ONE_SEARCH: Final = (
    "memory", "disk", "no_disk", "checkpoint", "resume", "fingerprints", "coverage", "width",
)  # fmt: skip
NOT_OF_MANY_WORLDS: Final = (*OF_ONE_SEARCH, *OF_FILES, *OF_BROKER_CONF, "broker_conf", "engine")
"""Options that do not apply to modes which search many worlds in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """The options of the command line, under their names there."""

    profile: Annotated[
        list[str] | None,
        typer.Option(metavar="PROFILE", help=f"{PROFILES} (if none is given); +NAME or -NAME turns a switch."),
    ] = None
    instance: Annotated[
        str | None,
        typer.Option(
            help="One of tiny, patient, odd, skewed, deep, small, trio, medium, large, shared, lasting, pair, endless, "
            "roomy, or a .toml. Nothing: the portfolio, one after the other: tiny, odd, skewed, deep and small, then "
            "lasting and pair (runs of any length), then large@2x3x2 and trio; where the profile is no release, medium "
            "and large, too."
        ),
    ] = None
    faults: Faults = ""
    properties: Properties = None
    engine: Annotated[str, typer.Option(help="numba; cpython, the slow judge; or z3, bounded model checking.")] = (
        COMPILED
    )
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Threads of the compiled search: 1 for an --instance, else all processors."),
    ] = None
    max_depth: Annotated[int, typer.Option(min=0, help="How many steps z3 looks ahead.")] = 20
    max_states: Annotated[
        int | None, typer.Option(min=1, help="Stop when so many states are stored; what is not violated is unknown.")
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory for states and hash table, such as 8G. Nothing: what is available."),
    ] = None
    disk: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where states go when memory ends. Nothing: a temporary folder."),
    ] = None
    no_disk: Annotated[bool, typer.Option("--no-disk", help="Stop when memory ends.")] = False
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save the search there now and then, and when it ends.")
    ] = None
    checkpoint_every: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How often the search is saved.")
    ] = 60.0
    resume: Annotated[bool, typer.Option("--resume", help="Go on from what --checkpoint DIR holds.")] = False
    fingerprints: Annotated[
        bool,
        typer.Option("--fingerprints", help="Keep a hash of 64 bits for each state; how likely a miss is, is said."),
    ] = False
    itf: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the first counterexample as ITF JSON.")] = None
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as a sequence diagram.")] = None
    mermaid: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as a Mermaid diagram.")] = None
    pytest: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as a test, ready to be kept.")] = None
    minimal_faults: Annotated[
        bool, typer.Option("--minimal-faults", help="Find all minimal sets of faults that break each clause.")
    ] = False
    most_faults: Annotated[int, typer.Option(min=0, max=4, help="How many faults at once --minimal-faults tries.")] = 2
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="What is new, mended and in both as one goes from release or profile A to B."),
    ] = None
    minimal_repairs: Annotated[
        bool, typer.Option("--minimal-repairs", help="Find all minimal sets of repairs with which each clause holds.")
    ] = False
    most_repairs: Annotated[
        int, typer.Option(min=1, max=5, help="How many repairs at once --minimal-repairs tries.")
    ] = 3
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="SWITCH", help="With --minimal-repairs: try this switch, too. May be repeated."),
    ] = None
    among: Annotated[
        list[str] | None,
        typer.Option(metavar="SWITCH", help="With --minimal-repairs: try these switches alone. May be repeated."),
    ] = None
    fresh: Annotated[
        bool, typer.Option("--fresh", help="With --minimal-faults: use no search that an earlier run has kept.")
    ] = False
    broker_conf: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Judge this broker.conf: its times, in instances of tiny, deep and small sizes."
        ),
    ] = None
    version: Annotated[
        str | None, typer.Option(metavar="V", help="A release from 4.3.0 on: its profile is taken, as by --profile V.")
    ] = None
    immunity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME", help="With --broker-conf: some messages are immune so long: 60s. May be repeated."
        ),
    ] = None
    local: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="With --broker-conf: each commit or rollback has arrived by then: 2s."),
    ] = None
    suggest: Annotated[
        bool,
        typer.Option("--suggest", help="With --broker-conf: search what to change, what it mends, and what it costs."),
    ] = False
    liveness: Annotated[
        bool, typer.Option("--liveness", help="What must happen in the end, in runs of any length: P1 to P9.")
    ] = False
    fairness: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="With --liveness: who goes on, in place of those that each response needs."),
    ] = None
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Count which rules of which guards were ever the first to be false.")
    ] = False
    width: Annotated[bool, typer.Option("--width", help="Only say how wide a state of the instance is.")] = False
    everything: Annotated[
        bool, typer.Option("--all", help="Print all counterexamples, all that holds and all that cannot occur.")
    ] = False
    as_json: AsJson = False

    @property
    def environment(self) -> Environment:
        """The faults that may happen; raises `ModelCheckError`."""
        return Environment.of(names_in(self.faults))

    @property
    def clauses(self) -> tuple[Property, ...]:
        """The clauses that are asked for; raises `ModelCheckError`."""
        return chosen_clauses(self.properties or ())

    @property
    def chosen_engine(self) -> Engine:
        """The engine of that name; raises `ModelCheckError`."""
        from model_check.did_you_mean import require_known
        from model_check.engines import ENGINES

        require_known("engine", self.engine, ENGINES)
        return ENGINES[self.engine]

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The one that is asked for, if there is one; raises `ModelCheckError` and `BadFile`."""
        return () if self.instance is None else (load_instance(self.instance),)

    @property
    def asked(self) -> Asked:
        """The one release or profile of an answer about one, from --profile or --version.

        Raises
        ------
        CommandLineError
            Several are given.
        ModelCheckError
            There is none of that name.
        """
        names = list(dict.fromkeys([*(self.profile or ()), *([self.version] if self.version else ())]))
        if len(names) > 1:
            message = f"{self._named(names)}: give one profile, or --minimal-faults"
            raise CommandLineError(message)
        return asked_for(names[0] if names else USUAL_PROFILE)

    def _named(self, names: Iterable[str]) -> str:
        return " ".join(f"--{'version' if one == self.version else 'profile'} {one}" for one in names)

    @property
    def profiles(self) -> list[Profile]:
        """The profiles of all releases and profiles that are given; none stands for all.

        Raises
        ------
        ModelCheckError
            There is none of a name.
        """
        given = [*(self.profile or ()), *([self.version] if self.version else ())]
        return [asked_for(name).profile for name in given]

    def given(self, names: Iterable[str]) -> list[str]:
        """Which of some options are given with another value than their default."""
        defaults = {field.name: field.default for field in fields(self)}
        return [
            f"--{name.rstrip('_').replace('_', '-')}"
            for name in names
            if getattr(self, name) not in ([], defaults[name])
        ]

    def refuse(self, names: Iterable[str], why: str) -> None:
        """Refuse what is given although it would have no effect.

        Raises
        ------
        CommandLineError
            Names the first of these options that is given.
        """
        for option in self.given(names):
            message = f"{option} {why}; leave it out"
            raise CommandLineError(message)


def say_who_speaks(asked: Asked) -> None:
    """Say on stderr which profile speaks for a release that has none of its own."""
    if asked.why:
        typer.echo(f"halfcheck: {asked.why}", err=True)
