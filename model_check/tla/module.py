"""A machine as a TLA+ module, and the configuration of TLC for one instance of it: the texts, and their files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from files.reading import read_lines
from files.writing import write_whole
from model_check.errors import ModelCheckError
from model_check.front_end.read_machine import read_machine
from model_check.tla.forgetful import TextThatForgets
from model_check.tla.responses import TextOfResponses
from model_check.tla.text import MARK, Text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from spec.language import Machine, Property, Response


@dataclass(frozen=True, slots=True)
class TlaModule:
    """A module and a configuration."""

    name: str  # of the module, and of both files without their suffixes
    module: str
    config: str


def export(
    machine: Machine, constants: object, clauses: Sequence[Property] | None = None, about: str = ""
) -> TlaModule:
    """Translate a machine.

    Parameters
    ----------
    constants
        An instance. Its values stand in the configuration; the module is the same for all instances, profiles and
        environments, but that there is one for the instances that forget, and one for the others. One transaction among
        others is another machine.
    clauses
        What TLC shall check beside the declared ranges: all clauses when not given.
    about
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
    """Translate a machine that forgets, as `export` does, for responses: the module has all, TLC checks these."""
    read_machine(machine, constants)
    return TlaModule(*TextOfResponses(machine, constants, responses).finished((), about))


def write_export(exported: TlaModule, folder: Path) -> tuple[Path, Path]:
    """Write the module and its configuration; each appears whole, or not at all.

    An export that is there already is replaced. What else lies in the folder is left alone.

    Returns
    -------
    tuple of Path
        The module, and the configuration.

    Raises
    ------
    ModelCheckError
        When the folder is a file, or a file of one of the names is there that no export wrote.
    OSError
        When the folder or a file cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        msg = f"{folder} is not a folder"
        raise ModelCheckError(msg)
    texts = {folder / f"{exported.name}.tla": exported.module, folder / f"{exported.name}.cfg": exported.config}
    for path in texts:
        if path.exists() and not _is_an_export(path):
            msg = f"{path} was not written by an export; move it away or name another folder"
            raise ModelCheckError(msg)
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        write_whole(path, text)
    module, config = texts
    return module, config


def _is_an_export(path: Path) -> bool:
    if not path.is_file():
        return False
    return any(MARK.encode() in line for line in islice(read_lines(path), 2))
