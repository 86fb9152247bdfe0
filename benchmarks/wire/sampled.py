"""``python -m benchmarks.wire.sampled FILE WORD...``: runs ``halfcheck WORD...`` and notes what it is at.

The system interrupts it each 5 ms of its processor time (ITIMER_PROF); the file that it is in then is counted, the
innermost one of Python, so that what is done in C counts for who called it. FILE gets the counts as JSON when it ends.
"""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import FrameType

ROOT: Final = Path(__file__).parents[2]
_EVERY_SECONDS: Final = 0.005


def called(path: str) -> str:
    """The name of a file: below the project, or that of a library's module."""
    if path == "<string>":
        return "what dataclasses and named tuples generate"
    if path.startswith("<"):
        return path.strip("<>")
    if path.startswith(f"{ROOT}/") and "site-packages" not in path:
        return path.removeprefix(f"{ROOT}/")
    return ".".join(Path(path).with_suffix("").parts[-2:])


def main(out: Path, words: list[str]) -> None:
    """Run it to its end, then write the counts."""
    counts: Counter[str] = Counter()

    def note(_: int, frame: FrameType | None) -> None:
        if frame is not None:
            counts[frame.f_code.co_filename] += 1

    from halfcheck.__main__ import main as halfcheck

    signal.signal(signal.SIGPROF, note)
    signal.setitimer(signal.ITIMER_PROF, _EVERY_SECONDS, _EVERY_SECONDS)
    sys.argv = ["halfcheck", *words]
    try:
        halfcheck()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        named: Counter[str] = Counter()
        for path, count in counts.items():
            named[called(path)] += count
        out.write_text(json.dumps(named), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
