"""The schedule of every minimal set of faults, `spec/schedules.toml`: what breaks a clause, step by step.

Profiles that break a clause by the same steps share an entry.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.errors import BadFile
from model_check.verdicts.environment import faults_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from model_check.verdicts.minimal_faults import MinimalFaults

HEADER = """\
# For each clause and each minimal set of faults that breaks it: the first of the shortest schedules.
#
# Written by `halfcheck verdicts --update`, together with verdicts.toml. To take one again:
#
#     halfcheck replay --profile PROFILE --instance INSTANCE --faults ENVIRONMENT --steps "STEPS"
#
# without --faults where the environment is quiet.
"""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One schedule, and the profiles in which it is the first shortest."""

    instance: str
    clause: str
    faults: tuple[str, ...]
    profiles: tuple[str, ...]
    steps: str

    @property
    def depth(self) -> int:
        """How many steps it has."""
        return len(self.steps.split(";"))


def schedules_of(found: MinimalFaults) -> list[Schedule]:
    """The schedules of all minimal sets, by clause."""
    profiles: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    for clause in found.clauses:
        for profile in found.profiles:
            for one in found.sets(profile, clause):
                profiles.setdefault((clause, one.faults, one.schedule), []).append(profile)
    return [
        Schedule(found.instance.name, clause, faults, tuple(shared), steps)
        for (clause, faults, steps), shared in profiles.items()
    ]


def write_schedules(schedules: Iterable[Schedule], specification: str) -> str:
    """The text of the file; `read_schedules` reads it back."""
    lines = [HEADER, f'specification = "{specification}"']
    for one in schedules:
        quoted = ", ".join(f'"{profile}"' for profile in one.profiles)
        lines += [
            "",
            "[[schedule]]",
            f'instance = "{one.instance}"',
            f'clause = "{one.clause}"',
            f'environment = "{name_of(one.faults)}"',
            f"profiles = [{quoted}]",
            f'steps = "{one.steps}"',
        ]
    return "\n".join(lines) + "\n"


def read_schedules(file: Path) -> tuple[Sequence[Schedule], str]:
    """The schedules, and the fingerprint of the specification that they are of.

    Raises
    ------
    BadFile
        When the file is not TOML, or lacks something.
    """
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
        schedules = [
            Schedule(s["instance"], s["clause"], faults_of(s["environment"]), tuple(s["profiles"]), s["steps"])
            for s in told.get("schedule", ())
        ]
        return schedules, str(told["specification"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{file}: {getattr(error, 'strerror', None) or error}; `halfcheck verdicts --update` writes it anew"
        raise BadFile(msg) from error
