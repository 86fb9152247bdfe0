"""A machine as the text of a TLA+ module, and of the configuration of TLC for one instance of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.front_end.read_machine import read_machine
from model_check.tla.forgetful.responses import TextOfResponses
from model_check.tla.forgetful.text import TextThatForgets
from model_check.tla.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spec.language import Machine, Property, Response


@dataclass(frozen=True, slots=True)
class TlaModule:
    """A module and a configuration.

    Attributes
    ----------
    name : str
        Of the module, and of both files without their suffixes.
    module, config : str
        The texts.
    """

    name: str
    module: str
    config: str


def export(
    machine: Machine, constants: object, clauses: Sequence[Property] | None = None, about: str = ""
) -> TlaModule:
    """Translate a machine.

    Parameters
    ----------
    machine : Machine
    constants : object
        An instance. Its values stand in the configuration; the module is the same for all instances, profiles and
        environments, but that there is one for the instances that forget, and one for the others.
    clauses : sequence of Property, optional
        What TLC shall check beside the declared ranges: all clauses when not given.
    about : str
        A line on the instance for the head of the configuration.

    Raises
    ------
    NotInTheLanguage
        When the source uses something that has no translation; names the file and the line.
    """
    read_machine(machine, constants)
    forgets = machine.forget is not None and bool(getattr(constants, "forgets", False))
    text = (TextThatForgets if forgets else Text)(machine, constants)
    return TlaModule(*text.finished(machine.clauses if clauses is None else clauses, about))


def export_responses(machine: Machine, constants: object, responses: Sequence[Response], about: str = "") -> TlaModule:
    """Translate a machine that forgets, for what must happen in the end.

    Parameters
    ----------
    responses : sequence of Response
        What TLC shall check beside the declared ranges; the module has all.
    machine, constants, about
        As for `export`.

    Raises
    ------
    NotInTheLanguage
        As `export` does.
    """
    read_machine(machine, constants)
    return TlaModule(*TextOfResponses(machine, constants, responses).finished((), about))
