"""The files of a verdict on a jar: a page, the JSON, and the instances in which its schedules can be taken again."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from document.markdown import markdown
from document.parts import Heading
from files.writing import write_whole
from fuzz.real_alone.schedules import texts_of
from halfcheck.printing.judge_jar import schedules_of, verdict_parts

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.real_alone.verdict import JarVerdict
    from spec.constants import Instance

PAGE = "verdict.md"
DATA = "verdict.json"


def write_verdict(folder: Path, verdict: JarVerdict) -> dict[str, str]:
    """Write a verdict into a folder, which is made; gives the command that takes each schedule again, by its name.

    Raises
    ------
    UnwritableFileError
        A file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    commands = {}
    for name, (schedule, _) in schedules_of(verdict).items():
        world = schedule.world
        instance = folder / f"{name.replace(' ', '-').replace(',', '+')}.toml"
        write_whole(instance, _as_toml(world.instance))
        faults = f" --faults {','.join(world.environment)}" if len(world.environment) else ""
        commands[name] = (
            f"halfcheck replay --profile {world.profile} --instance {instance}{faults} "
            f'--steps "{texts_of(schedule.steps)}"'
        )
    title = Heading(f"{verdict.given.name}, held against RocketMQ {verdict.given.release}", 1)
    write_whole(folder / PAGE, markdown([title, *verdict_parts(verdict, commands, every_row=True)]))
    write_whole(folder / DATA, json.dumps(verdict.to_json(), ensure_ascii=False, indent=2) + "\n")
    return commands


def _as_toml(instance: Instance) -> str:
    fields = asdict(instance)
    del fields["name"]
    return "".join(f"{name} = {list(value) if isinstance(value, tuple) else value}\n" for name, value in fields.items())
