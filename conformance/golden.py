"""``make golden``: runs the reference broker under the schedule of each golden store and compares what both wrote.

``make golden-schedules`` (``python -m conformance.golden --schedules``) makes the schedule files anew out of the stores
and their logs. Names as ``5.3.3/ten`` limit either to those stores.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.broker_schedule import BrokerSchedule, read_schedule, write_schedule
from conformance.compare_stores import StoreComparison, StoreSide, compare_stores
from conformance.errors import ConformanceError
from conformance.fit_schedule import fit_schedule
from conformance.golden_stores import GoldenStore, golden_stores
from conformance.scheduled_run import ScheduledRun
from reference.format.errors import StoreError
from reference.store.memory_disk import MemoryDisk

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEDULES = Path(__file__).parent / "schedules"
DIFFERENT = 12
_USAGE = 151


def schedule_path(golden: GoldenStore) -> Path:
    """Where the schedule file of a golden store lies."""
    return SCHEDULES / golden.version / f"{golden.scenario}.jsonl.gz"


def compare_with_reference(store: Path, schedule: BrokerSchedule) -> tuple[StoreComparison, ScheduledRun]:
    """Run the reference broker under a schedule, and hold the store against what it wrote."""
    disk = MemoryDisk()
    replay = ScheduledRun(schedule, disk).run()
    sides = StoreSide.of_directory(store), StoreSide.of_memory(disk)
    return compare_stores(*sides, masks_stale_bytes=schedule.version == "4.5.1"), replay


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or extract; the exit code is 0, 12 if a store differs, 150 for a bad file, 151 for a bad name."""
    parser = argparse.ArgumentParser(prog="python -m conformance.golden", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="VERSION/SCENARIO", help="only these stores")
    parser.add_argument("--schedules", action="store_true", help="make the schedule files anew")
    options = parser.parse_args(arguments)
    stores = {golden.name: golden for golden in golden_stores()}
    unknown = [name for name in options.names if name not in stores]
    if unknown:
        print(f"there is no golden store {unknown[0]}; there are {', '.join(stores)}", file=sys.stderr)
        return _USAGE
    chosen = [stores[name] for name in options.names or stores]
    try:
        return _extract(chosen) if options.schedules else _compare(chosen)
    except (ConformanceError, StoreError) as error:
        print(error, file=sys.stderr)
        return error.exit_code


def _extract(stores: list[GoldenStore]) -> int:
    for golden in stores:
        fit = fit_schedule(golden)
        difference = fit.compare().difference
        if difference is not None or fit.replay.departure is not None:
            print(f"{golden.name}: no schedule found; {difference or fit.replay.departure}", file=sys.stderr)
            return DIFFERENT
        write_schedule(fit.schedule, schedule_path(golden))
        print(f"{golden.name:24} {len(fit.schedule.acts):6} acts")
    return 0


def _compare(stores: list[GoldenStore]) -> int:
    records = compared = different = 0
    print(f"{'store':24} {'records':>8} {'bytes':>10}")
    for golden in stores:
        comparison, replay = compare_with_reference(golden.path, read_schedule(schedule_path(golden)))
        verdict = "identical"
        if comparison.difference is not None:
            found = comparison.difference
            verdict = f"DIFFERENT: {found.record}, {found.field}: {found.left} instead of {found.right}"
        elif replay.departure is not None:
            verdict = f"DIFFERENT: act {replay.departure.act}, {replay.departure.reason}"
        different += verdict != "identical"
        records += comparison.records
        compared += comparison.bytes
        print(f"{golden.name:24} {comparison.records:8} {comparison.bytes:10}  {verdict}")
    print(f"{'total':24} {records:8} {compared:10}  {len(stores) - different} of {len(stores)} stores identical")
    return DIFFERENT if different else 0


if __name__ == "__main__":
    sys.exit(main())
