"""The instances in which one among others is searched, and those in which it is compared with many."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from model_check.instances import load_instance

AMONG_OTHERS: Final = ("crowd", "crowd_odd")
"""One transaction among others: three checks, and a single one with what messages may carry besides."""

IMMUNE: Final = replace(load_instance("small"), name="immune", immunities=(-1, 3), half_slots=4, persist_interval=0)
"""Two transactions with immunities, whose offsets are saved before time passes, as in `crowd`."""

SEARCHED: Final = (load_instance("small"), load_instance("skewed"), IMMUNE)
"""Instances of two transactions."""

TRIO: Final = load_instance("trio")
"""Three transactions, of which all states are compared in two worlds of the repaired protocol."""

WALKED: Final = replace(
    load_instance("small"),
    name="three",
    transactions=3,
    half_slots=9,
    op_slots=5,
    immunities=(-1, 3),
    op_batch_size=2,
    mishaps=2,
    stray_ends=2,
    crashes=2,
)
"""Three transactions with immunities, of which walks are compared."""

ALL: Final = (*map(load_instance, AMONG_OTHERS), *SEARCHED, TRIO, WALKED)
