"""Which instance is taken where one is needed and none is given; it is said on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence


def choose_instance(profile: str, faults: Sequence[str], properties: Sequence[str], why: str) -> str:
    """The instance of the portfolio that shows most of what is asked for; it is said which, and why one is needed.

    Parameters
    ----------
    profile, faults, properties
        Of the question.
    why
        Why one is needed, or why it is this one, such as `as --coverage counts over the states of one`.
    """
    from model_check.portfolio import instance_that_shows

    name = instance_that_shows(profile, faults, properties)
    say_choice(name, why, properties)
    return name


def say_choice(instance: str, why: str, properties: Sequence[str] = ()) -> None:
    """Say on stderr which instance is taken."""
    shows = f"; it shows most of {', '.join(properties)}" if properties else ""
    typer.echo(f"halfcheck: no --instance is given: {instance} is taken, {why}{shows}", err=True)
