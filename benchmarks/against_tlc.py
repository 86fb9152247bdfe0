"""``python -m benchmarks.against_tlc [WORKERS]``: the compiled search beside TLC on the exported module.

Prints a line for each workload: distinct and generated states, depth, the seconds of both, and whether the numbers
agree. The seconds of the compiled search leave out its compiling, those of TLC are of its whole process.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machines import two_phase_commit
from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT
from benchmarks.tlc import run_tlc
from model_check.explicit.search import explore
from model_check.instances import constants_for
from model_check.tla.files import write_export
from model_check.tla.module import export
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.language import Machine

WORKLOADS: dict[str, tuple[Machine, object]] = {
    "two_phase_commit 5": (TWO_PHASE_COMMIT, two_phase_commit.Constants(resource_managers=5)),
    "two_phase_commit 7": (TWO_PHASE_COMMIT, two_phase_commit.Constants(resource_managers=7)),
    "tiny 5.3.3 crash": (TRANSACTIONAL_MESSAGES, constants_for("5.3.3", ["crash"], "tiny")),
    "odd 5.3.3 clock_skew": (TRANSACTIONAL_MESSAGES, constants_for("5.3.3", ["clock_skew"], "odd")),
    "tiny 4.9.7 power_loss": (TRANSACTIONAL_MESSAGES, constants_for("4.9.7", ["power_loss"], "tiny")),
    "odd fixed acting_slave": (TRANSACTIONAL_MESSAGES, constants_for("fixed", ["acting_slave"], "odd")),
    "small 5.3.3 crash": (TRANSACTIONAL_MESSAGES, constants_for("5.3.3", ["crash"], "small")),
    "trio 4.5.1 quiet": (TRANSACTIONAL_MESSAGES, constants_for("4.5.1", [], "trio")),
    "trio 4.9.7 quiet": (TRANSACTIONAL_MESSAGES, constants_for("4.9.7", [], "trio")),
    "medium 5.3.3 quiet": (TRANSACTIONAL_MESSAGES, constants_for("5.3.3", [], "medium")),
}


def main(workers: int) -> int:
    """Run each workload once by both engines; 1 when they disagree."""
    disagreements = 0
    print(f"{'workload':<22} {'distinct':>10} {'generated':>11} {'depth':>5} {'compiled s':>10} {'TLC s':>8}  agree")
    for name, (machine, constants) in WORKLOADS.items():
        found = explore(machine, constants)
        with tempfile.TemporaryDirectory() as folder:
            exported = export(machine, constants, ())
            write_export(exported, Path(folder))
            told = run_tlc(Path(folder), exported.name, workers=workers)
        agree = (told.distinct, told.generated, told.depth) == (found.distinct, found.generated, found.depth + 1)
        disagreements += not agree
        numbers = f"{found.distinct:>10,} {found.generated:>11,} {found.depth:>5}"
        print(
            f"{name:<22} {numbers} {found.seconds:>10.3f} {told.seconds:>8.1f}  {'yes' if agree else 'NO'}", flush=True
        )
    return min(disagreements, 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
