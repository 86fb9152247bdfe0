"""The options that several commands have, each with its help; and what stands for one that is not given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.world import Environment, Profile
    from spec.constants import Instance

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
USUAL_PROFILE: Final = "5.5.1"
"""The newest release: what is meant where no profile is named."""
PROFILES: Final = "4.5.1, 4.9.7, 5.3.3, 5.4.0, 5.5.0 or 5.5.1"
ProfileName = Annotated[str, typer.Option(help=f"{PROFILES}; +NAME or -NAME turns a switch.")]
Faults = Annotated[
    str,
    typer.Option(
        metavar="FAULT,…",
        help="What may go wrong, for example crash,lose_end; halfcheck switches --faults lists them. Nothing: quiet.",
    ),
]
Properties = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="ID", help="S1, or one clause: S1.immune_half. May be repeated."),
]
Seed = Annotated[int, typer.Option(help="Where the choices come from.")]
Threads = Annotated[int | None, typer.Option(min=1, max=64, help="Searches at a time; all processors.")]
Master = Annotated[
    str,
    typer.Option(help="The Spark master: local[N], spark://HOST:PORT, yarn or k8s://URL; docs/cluster.md says how."),
]
Conf = Annotated[
    list[str] | None,
    typer.Option(
        "--conf", metavar="KEY=VALUE", help="A setting of Spark's, such as spark.driver.memory=4g; repeatable."
    ),
]


def names_in(text: str) -> list[str]:
    """The names of a list with commas.

    Examples
    --------
    >>> names_in("crash, lose_end,"), names_in("")
    (['crash', 'lose_end'], [])
    """
    return [name for name in map(str.strip, text.split(",")) if name]


def choose_instance(profile: Profile, environment: Environment, properties: Sequence[str], why: str) -> Instance:
    """The instance of the portfolio that shows most of what is asked for; it is said which, and why one is needed.

    Parameters
    ----------
    profile, environment
    properties
        As the command line names them; none stands for all.
    why
        Why one is needed, or why it is this one, such as `as --coverage counts over the states of one`.
    """
    from model_check.chosen_instances import instance_that_shows
    from model_check.clauses import chosen_clauses

    instance = instance_that_shows(profile, environment, chosen_clauses(properties))
    say_choice(instance, why, properties)
    return instance


def say_choice(instance: Instance, why: str, properties: Sequence[str] = ()) -> None:
    """Say on stderr which instance is taken."""
    shows = f"; it shows most of {', '.join(properties)}" if properties else ""
    typer.echo(f"halfcheck: no --instance is given: {instance.name} is taken, {why}{shows}", err=True)
