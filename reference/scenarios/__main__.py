"""``python -m reference.scenarios [NAME] [--seed N] [--out DIR]``: tells a walk-through, and keeps its store.

Without a name it lists them. The directory holds the store with its ``broker.conf``, the producers' ``driver.jsonl``
and ``trace.jsonl``, the broker's events; ``halfcheck audit DIR`` reads it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reference.scenarios.scenario import run, write_store
from reference.scenarios.walk_throughs import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Sequence

_BAD_CONTENT, _USAGE = 150, 151


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell one; the exit code is 0, 150 if the directory can't be written, 151 for a bad name."""
    parser = argparse.ArgumentParser(prog="python -m reference.scenarios", description=__doc__)
    parser.add_argument("name", nargs="?", metavar="NAME", help="which walk-through")
    parser.add_argument("--seed", type=int, default=1, help="decides every interleaving (default 1)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where its store goes; a new or empty directory")
    options = parser.parse_args(arguments)
    if options.name is None:
        for scenario in SCENARIOS.values():
            print(f"{scenario.name:20} {scenario.about}")
        return 0
    if options.name not in SCENARIOS:
        print(f"there is no walk-through {options.name!r}; there are {', '.join(SCENARIOS)}", file=sys.stderr)
        return _USAGE
    scenario = SCENARIOS[options.name]
    played = run(scenario, options.seed)
    cluster = played.cluster
    print(f"{scenario.name}, seed {options.seed}: {cluster.scheduler.steps} steps, {cluster.disk.write_count} writes")
    print(
        f"delivered: {len(played.consumer.consumed)}, refused: {len(cluster.refused)}, order {cluster.scheduler.digest}"
    )
    if options.out is None:
        return 0
    try:
        if options.out.exists() and any(options.out.iterdir()):
            print(f"{options.out} is not empty; --out wants a new or empty directory", file=sys.stderr)
            return _BAD_CONTENT
        write_store(cluster, options.out)
    except OSError as error:
        print(f"{options.out} can't be written: {error.strerror}", file=sys.stderr)
        return _BAD_CONTENT
    return 0


if __name__ == "__main__":
    sys.exit(main())
