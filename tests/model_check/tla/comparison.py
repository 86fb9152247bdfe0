"""TLC on an export beside another reading of the same machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.tlc import TlcResult, run_tlc
from model_check.tla.module import write_export

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.tla.module import TlaModule


SHORT_RUN = ("-XX:TieredStopAtLevel=1",)
"""What Java's second compiler gains within seconds is less than it costs."""


def run_export(exported: TlaModule, folder: Path, *options: str) -> TlcResult:
    """What TLC says of an export, unchanged."""
    write_export(exported, folder)
    return run_tlc(folder, exported.name, *options, java_options=SHORT_RUN)


def disagreements(told: TlcResult, distinct: int, generated: int, depth: int) -> list[str]:
    """What TLC says otherwise than another reading; TLC counts the states on a path, not the steps."""
    if told.violated is not None:
        return [f"{told.violated} is violated"]
    if told.distinct is None:
        return ["TLC ends with an error"]
    pairs = {
        "distinct": (told.distinct, distinct),
        "generated": (told.generated, generated),
        "depth": (told.depth, depth + 1),
    }
    return [f"{name}: {own} here, {other} there" for name, (own, other) in pairs.items() if own != other]
