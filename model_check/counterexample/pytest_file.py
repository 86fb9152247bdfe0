"""A counterexample as a pytest file, ready to be checked in.

It fails as soon as the schedule shows the defect no more.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spec.language import Step

_TEMPLATE = '''"""{title}

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


def pytest_file(
    profile: str,
    faults: Sequence[str],
    instance: str,
    clause: str,
    rule: str,
    path: Sequence[Step],
    violated: list[str],
) -> str:
    """The text of the file.

    Parameters
    ----------
    clause, rule
        What is violated, as `S1.immune_half`, and the sentence that says so.
    path
        The schedule.
    violated
        All clauses that the replay finds violated along the path.
    """
    world = "_with_" + "_and_".join(faults) if faults else "_in_the_quiet_world"
    name = re.sub(r"\W+", "_", f"{clause}_is_violated_in_{profile}{world}").lower()
    told = f"{clause} is violated in {profile}" + (f" with {', '.join(faults)}." if faults else " in the quiet world.")
    steps = "\n".join(f"{step};" for step in path)
    return _TEMPLATE.format(
        title=told,
        rule=rule,
        steps=steps,
        name=name,
        profile=json.dumps(profile),
        faults=json.dumps(list(faults)),
        instance=json.dumps(instance),
        violated=json.dumps(violated),
        depth=len(path),
    )
