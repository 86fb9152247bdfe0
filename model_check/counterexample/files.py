"""A counterexample written to files: ITF, SVG, Mermaid, pytest."""

from __future__ import annotations

import errno
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from files.errors import UnwritableFileError
from files.writing import what_is_no_file, write_whole
from model_check.counterexample.itf import to_itf
from model_check.counterexample.sequence_diagram import draw, drawn_lasso, drawn_path, to_mermaid
from model_check.instances import constants_for
from model_check.wording.faults import in_world
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.check import CheckResult, ClauseResult
    from model_check.counterexample.steps import Replay
    from model_check.liveness.check import LivenessResult, ResponseResult

_PYTEST_FILE = '''"""{title}

{rule}
"""

from model_check.counterexample.steps import read_path, replay
from model_check.instances import constants_for
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

STEPS = """
{steps}
"""


def test_{name}() -> None:
    constants = constants_for({profile}, {faults}, {instance})
    replayed = replay(TRANSACTIONAL_MESSAGES, constants, read_path(TRANSACTIONAL_MESSAGES, constants, STEPS))
    assert [f"{{clause.identifier}}.{{clause.clause}}" for clause in replayed.violated] == {violated}
    assert len(replayed.events) == {depth}
'''


@dataclass(frozen=True, slots=True)
class Written:
    """Where each form goes; `None` where it is not wanted."""

    itf: Path | None = None
    svg: Path | None = None
    mermaid: Path | None = None
    pytest: Path | None = None


def refuse_unwritable(wanted: Written) -> None:
    """Say before a search that its counterexample could not be written after it.

    Raises
    ------
    UnwritableFileError
        When a file's folder is not there, or what stands at its name is no file; names it.
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


def write_files(result: CheckResult, row: ClauseResult, wanted: Written) -> None:
    """Write the counterexample of a violated clause in the wanted forms.

    Raises
    ------
    UnwritableFileError
        When a file cannot be written; names it and why.
    """
    if row.path is None or row.replayed is None:
        msg = f"{row.name} is not violated"
        raise AssertionError(msg)
    instance = row.instance or result.instance
    world = ", ".join(result.faults) or "the quiet world"
    title = f"{row.name} is violated in {result.profile}, {world}: {row.clause.sentence}"
    if wanted.itf is not None:
        constants = constants_for(result.profile, result.faults, instance)
        origin = {"profile": result.profile, "faults": list(result.faults), "instance": instance.name}
        trace = to_itf(TRANSACTIONAL_MESSAGES, constants, row.path, origin, title)
        write_whole(wanted.itf, json.dumps(trace, ensure_ascii=False, indent=1) + "\n")
    if wanted.svg is not None:
        write_whole(wanted.svg, draw(drawn_path(row.replayed.events), title, "diagram"))
    if wanted.mermaid is not None:
        write_whole(wanted.mermaid, to_mermaid(drawn_path(row.replayed.events), title))
    if wanted.pytest is not None:
        write_whole(wanted.pytest, _pytest_file(result, row, row.replayed))


def write_lasso(result: LivenessResult, row: ResponseResult, wanted: Written) -> None:
    """Write a run for ever in the wanted forms: in ITF, `loop` is the number of the state that the cycle goes back to.

    Raises
    ------
    UnwritableFileError
        When a file cannot be written; names it and why.
    """
    lasso, name = row.lasso, row.response.name
    if lasso is None:
        msg = f"{name} is not violated"
        raise AssertionError(msg)
    world = ", ".join(result.faults) or "the quiet world"
    title = f"{name} is violated in {result.profile}, {world}. Claimed: {row.response.sentence}"
    steps = lasso.again[: len(lasso.stem) + len(lasso.cycle)]
    if wanted.itf is not None:
        constants = constants_for(result.profile, result.faults, lasso.instance)
        origin = {"profile": result.profile, "faults": list(result.faults), "instance": lasso.instance.name}
        trace = to_itf(TRANSACTIONAL_MESSAGES, constants, steps, origin, title) | {"loop": len(lasso.stem)}
        write_whole(wanted.itf, json.dumps(trace, ensure_ascii=False, indent=1) + "\n")
    drawn = drawn_lasso(lasso.stem, lasso.cycle)
    if wanted.svg is not None:
        write_whole(wanted.svg, draw(drawn, title, "diagram"))
    if wanted.mermaid is not None:
        write_whole(wanted.mermaid, to_mermaid(drawn, title))


def _pytest_file(result: CheckResult, row: ClauseResult, replayed: Replay) -> str:
    """The counterexample as a pytest file, ready to be checked in: it fails as soon as the schedule shows no defect."""
    profile, faults = result.profile, result.faults
    world = "_with_" + "_and_".join(faults) if faults else "_in_the_quiet_world"
    return _PYTEST_FILE.format(
        title=f"{row.name} is violated in {profile} {in_world(faults)}.",
        rule=row.clause.sentence,
        steps="\n".join(f"{event.step};" for event in replayed.events),
        name=re.sub(r"\W+", "_", f"{row.name}_is_violated_in_{profile}{world}").lower(),
        profile=json.dumps(profile),
        faults=json.dumps(list(faults)),
        instance=json.dumps((row.instance or result.instance).name),
        violated=json.dumps([f"{clause.identifier}.{clause.clause}" for clause in replayed.violated]),
        depth=len(replayed.events),
    )
