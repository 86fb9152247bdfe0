"""Where each step of many is proved to be followed, for any number of them: `proved.toml`, on which claims rest.

`python -m model_check.any_number.unbounded.proofs` asks for all obligations of those `WORLDS` that the file lacks, and
writes it. It ends with exit code 1 when one is not proved, and names it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from files.writing import write_whole
from model_check.any_number.claims import PROVED, proved_as_toml, proved_worlds
from model_check.any_number.obligations import SMALL
from model_check.any_number.unbounded.obligations import StepProof, StepProver
from model_check.processes import on_all_cores
from model_check.world import Environment, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.any_number.world_lines import WorldLines

COUNTED: Final = replace(SMALL, name="counted", crashes=2)
"""The instance whose fields are spoken of: crashes are counted in it, or else that field would have one value."""

FOLLOWED_FAULTS: Final = (
    "slow_local", "lose_end", "lose_check", "duplicate_end", "reorder", "wrong_end", "late_end", "offline_producer",
    "restarted_producer", "bad_store_status", "slow_dispatch", "put_failure", "undecodable_half", "clock_skew",
    "crash", "late_persist",
)  # fmt: skip
"""Faults of which any may be there, none, some or all: each is left open, too."""

WORLDS: Final = {Profile.of(name): Environment.of(FOLLOWED_FAULTS) for name in ("4.9.7", "fixed")}
"""What is asked for."""


@cache
def prover(profile: Profile) -> StepProver:
    """That of a profile with the faults that are asked for, made once in each process."""
    return StepProver(World(profile, WORLDS[profile], COUNTED).constants)


def _proved(part: tuple[Profile, str]) -> StepProof:
    profile, name = part
    return prover(profile).prove(next(action for action in TRANSACTIONAL_MESSAGES.actions if action.name == name))


def prove_all(report: Callable[[str], None]) -> dict[Profile, StepProof]:
    """Ask for the obligations of all actions in the worlds that the file lacks, on all processors."""
    began, names = time.monotonic(), [action.name for action in TRANSACTIONAL_MESSAGES.actions]
    known = proved_worlds()
    proofs = {
        profile: prover(profile).prove_initially()
        for profile, faults in WORLDS.items()
        if (profile, faults) not in known
    }
    parts = [(profile, name) for profile in proofs for name in names]
    with on_all_cores() as spread:
        for (profile, name), one in zip(parts, spread(_proved, parts), strict=True):
            proofs[profile] += one
            if one.obligations:
                report(f"{profile} {name}: {one}; {time.monotonic() - began:.0f} s")
    return proofs


def counts_of(proofs: Mapping[Profile, StepProof]) -> WorldLines:
    """How many obligations were proved of each world, and of how many actions."""
    return {
        (profile, WORLDS[profile]): {"obligations": proof.obligations, "actions": len(proof.actions)}
        for profile, proof in proofs.items()
    }


def main() -> int:
    """Ask for all, and note what is proved; 1 when something is not, 130 after Ctrl-C."""
    try:
        proofs = prove_all(lambda what: print(what, file=sys.stderr, flush=True))
    except KeyboardInterrupt:
        return 130
    for profile, proof in proofs.items():
        print(*proof.unknown, f"{profile}: {proof}", sep="\n")
    if not all(proof.is_proved for proof in proofs.values()):
        return 1
    proved = {**proved_worlds(), **counts_of(proofs)}
    write_whole(PROVED, proved_as_toml({world: proved[world] for world in WORLDS.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
