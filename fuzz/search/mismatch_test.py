"""A mismatch as a pytest file, ready to be kept: it fails for as long as specification and broker disagree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fuzz.lockstep.script import write
from model_check.counterexample.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.lockstep.mismatch import Mismatch
    from fuzz.lockstep.pairing import Pairing
    from fuzz.lockstep.script import Script

NAME = "test_lockstep_mismatch.py"

_TEMPLATE = '''"""Specification and broker disagreed here: {mismatch}."""

from fuzz.lockstep.script import run_text
from fuzz.lockstep.pairing import Pairing

STEPS = """
{steps}
"""


def test_the_broker_does_what_the_specification_says() -> None:
    pairing = Pairing.of({profile}, {faults}, {instance})
    pair = run_text(pairing, STEPS{question})
    assert len(pair.taken) == {length}
'''


def pytest_file(pairing: Pairing, script: Script, mismatch: Mismatch) -> str:
    """The text of the file."""
    steps, question = write(script)
    listed = ", ".join(json.dumps(fault) for fault in pairing.faults)
    return _TEMPLATE.format(
        mismatch=mismatch,
        steps=steps.replace("; ", ";\n"),
        profile=json.dumps(pairing.profile),
        faults=f"({listed},)" if pairing.faults else "()",
        instance=json.dumps(pairing.instance),
        question=f", {json.dumps(question)}" if question else "",
        length=len(script.steps),
    )


def write_pytest_file(directory: Path, text: str) -> Path:
    """Put the file into a directory, which is made if need be; nobody sees it half written."""
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / NAME
    write_whole(target, text)
    return target
