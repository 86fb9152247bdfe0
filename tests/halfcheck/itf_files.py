"""A counterexample in the Informal Trace Format, and what a file should not say instead."""

from __future__ import annotations

import copy
from typing import Any

from model_check.counterexample.trace_file import to_itf
from tests.model_check.counterexample import b02

TRACE: dict[str, Any] = to_itf(b02.WORLD, b02.path(), "B02")


def changed(*path: str | int, to: object) -> Any:
    content = copy.deepcopy(TRACE)
    place: Any = content
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return content


BAD_TRACES = {
    "no meta": changed("#meta", to=None),
    "meta is a list": changed("#meta", to=[]),
    "no origin": changed("#meta", "halfcheck", to=None),
    "no profile": changed("#meta", "halfcheck", "profile", to=None),
    "another profile": changed("#meta", "halfcheck", "profile", to="9.9"),
    "the profile is a number": changed("#meta", "halfcheck", "profile", to=5),
    "the profile is a list": changed("#meta", "halfcheck", "profile", to=[]),
    "another instance": changed("#meta", "halfcheck", "instance", to="huge"),
    "the instance is a number": changed("#meta", "halfcheck", "instance", to=5),
    "faults are a number": changed("#meta", "halfcheck", "faults", to=5),
    "faults are one text": changed("#meta", "halfcheck", "faults", to="crash"),
    "faults are lists": changed("#meta", "halfcheck", "faults", to=[[]]),
    "another fault": changed("#meta", "halfcheck", "faults", to=["fire"]),
    "states are a number": changed("states", to=5),
    "no states": changed("states", to=[]),
    "a state is a number": changed("states", 2, to=5),
    "no action": changed("states", 2, "mbt::actionTaken", to=None),
    "another action": changed("states", 2, "mbt::actionTaken", to="explode"),
    "an action too early": changed("states", 2, "mbt::actionTaken", to="begin_round"),
    "no picks": changed("states", 2, "mbt::nondetPicks", to=None),
    "picks are a list": changed("states", 2, "mbt::nondetPicks", to=[]),
    "a pick is a word": changed("states", 2, "mbt::nondetPicks", to={"t": "zero"}),
    "a pick is infinite": changed("states", 2, "mbt::nondetPicks", to={"t": float("inf")}),
    "a pick is no bigint": changed("states", 2, "mbt::nondetPicks", to={"t": {"#set": []}}),
    "a pick is out of range": changed("states", 2, "mbt::nondetPicks", to={"t": {"#bigint": "7"}}),
    "the world has no crash": changed("#meta", "halfcheck", "faults", to=[]),
}
