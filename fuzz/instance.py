"""The instance that the fuzzer runs: wide enough for schedules that no exhaustive search reaches."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from model_check.errors import ModelCheckError
from model_check.instances import constants_for
from spec.constants import Constants, Instance
from spec.language import NONE

FUZZED: Final = Instance(
    name="fuzzed",
    transactions=3,
    half_slots=12,
    op_slots=10,
    check_max=2,
    timeout=2,
    immunities=(NONE, 1, 3),
    check_interval=1,
    round_limit=4,
    op_batch_interval=1,
    op_batch_size=2,
    op_pull_size=2,
    stray_ends=60,
)
"""Three transactions on long queues. A round may last long enough for an op message to be born late in it."""


def fuzzed_constants(profile: str, faults: tuple[str, ...], instance: str = FUZZED.name) -> Constants:
    """The constants of a profile in an environment, on `FUZZED` or on an instance that comes with the specification.

    Raises
    ------
    ModelCheckError
        A profile, a fault or an instance of that name is not known, or the instance's op batch has no counterpart in
        characters.
    """
    known = constants_for(profile, faults, "tiny" if instance == FUZZED.name else instance)
    constants = Constants(**(asdict(known) | asdict(FUZZED))) if instance == FUZZED.name else known
    if constants.half_slots > 10 and constants.op_batch_size > 2:
        msg = (
            f"instance {instance}: {constants.half_slots} half slots and an op batch of {constants.op_batch_size} have "
            "no transactionOpMsgMaxSize that fits offsets of one digit and of two; use at most 10 slots or a batch of 2"
        )
        raise ModelCheckError(msg)
    return constants
