"""A counterexample written to files: ITF, SVG, Mermaid, pytest."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from files.errors import UnwritableFileError
from files.writing import what_is_no_file, write_whole
from model_check.clauses import name_of
from model_check.counterexample.sequence_diagram import DiagramStep, draw, drawn_lasso, drawn_path, to_mermaid
from model_check.counterexample.trace_file import to_itf

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.finding import Violated
    from model_check.liveness.check import ResponseRow
    from model_check.world import World

_PYTEST_FILE = '''"""{title}

{rule}
"""

from model_check.counterexample.steps import read_path, replay
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

STEPS = """
{steps}
"""


def test_{name}() -> None:
    constants = World.of({profile}, {faults}, {instance}).constants
    replayed = replay(TRANSACTIONAL_MESSAGES, constants, read_path(TRANSACTIONAL_MESSAGES, constants, STEPS))
    assert [f"{{clause.identifier}}.{{clause.clause}}" for clause in replayed.violated] == {violated}
    assert len(replayed.events) == {depth}
'''


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """Where each form goes; `None` where it is not wanted."""

    itf: Path | None = None
    svg: Path | None = None
    mermaid: Path | None = None
    pytest: Path | None = None


def refuse_unwritable(wanted: WrittenFiles) -> None:
    """Say before a search that its counterexample could not be written after it.

    Raises `UnwritableFileError`, which names the file, if its folder is not there or its name is that of no file.
    """
    for file in (wanted.itf, wanted.svg, wanted.mermaid, wanted.pytest):
        if file is None:
            continue
        why = what_is_no_file(file)
        if why:
            why = f"it is {why}"
        elif not file.parent.is_dir():
            why = f"{file.parent} is no folder"
        elif not os.access(file.parent, os.W_OK):
            why = os.strerror(errno.EACCES)
        if why:
            raise UnwritableFileError(file, why)


def write_files(row: Violated, wanted: WrittenFiles) -> None:
    """Write the counterexample of a violated clause in the wanted forms.

    Raises `UnwritableFileError`, which names the file and why, when one cannot be written.
    """
    if row.replay is None:
        msg = f"{row.name} has no path that was replayed"
        raise AssertionError(msg)
    title = f"{row.name} is violated in {_where(row.world)}: {row.clause.sentence}"
    if wanted.itf is not None:
        write_whole(wanted.itf, _json(to_itf(row.world, row.path, title)))
    _write_diagrams(drawn_path(row.replay.events), title, wanted)
    if wanted.pytest is not None:
        write_whole(wanted.pytest, _pytest_file(row))


def write_lasso(row: ResponseRow, wanted: WrittenFiles) -> None:
    """Write a run for ever in the wanted forms: in ITF, `loop` is the number of the state that the cycle goes back to.

    Raises `UnwritableFileError`, which names the file and why, when one cannot be written.
    """
    lasso = row.lasso
    if lasso is None:
        msg = f"{row.response.name} is not violated"
        raise AssertionError(msg)
    title = f"{row.response.name} is violated in {_where(lasso.world)}. Claimed: {row.response.sentence}"
    if wanted.itf is not None:
        steps = lasso.again[: len(lasso.stem) + len(lasso.cycle)]
        write_whole(wanted.itf, _json(to_itf(lasso.world, steps, title) | {"loop": len(lasso.stem)}))
    _write_diagrams(drawn_lasso(lasso.stem, lasso.cycle), title, wanted)


def _write_diagrams(steps: Sequence[DiagramStep], title: str, wanted: WrittenFiles) -> None:
    if wanted.svg is not None:
        write_whole(wanted.svg, draw(steps, title, "diagram"))
    if wanted.mermaid is not None:
        write_whole(wanted.mermaid, to_mermaid(steps, title))


def _where(world: World) -> str:
    return f"{world.profile}, {world.environment.in_words(', ')}"


def _json(trace: dict[str, Any]) -> str:
    return json.dumps(trace, ensure_ascii=False, indent=1) + "\n"


def _pytest_file(row: Violated) -> str:
    """The counterexample as a pytest file, ready to be checked in: it fails as soon as the schedule shows no defect."""
    profile, environment = row.world.profile, row.world.environment
    world = "_with_" + "_and_".join(environment) if environment else "_in_the_quiet_world"
    return _PYTEST_FILE.format(
        title=f"{row.name} is violated in {profile} {environment.beside_a_profile}.",
        rule=row.clause.sentence,
        steps="\n".join(f"{step};" for step in row.path),
        name=re.sub(r"\W+", "_", f"{row.name}_is_violated_in_{profile}{world}").lower(),
        profile=json.dumps(profile.name),
        faults=json.dumps(list(environment)),
        instance=json.dumps(row.world.instance.name),
        violated=json.dumps([name_of(clause) for clause in row.replay.violated] if row.replay else []),
        depth=row.depth,
    )
