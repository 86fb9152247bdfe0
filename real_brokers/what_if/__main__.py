"""``make what-if-real``: leads real brokers under a workload, simulates the same, holds each measure in its interval.

Stores are kept in ``build/what-if-real``; what was seen of each release and trial is kept in ``seen.toml``, and written
from there to ``docs/generated/how-often-on-real-brokers.md``. A run takes two to three minutes, one at a time, and its
simulation some minutes more.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from conformance.golden_stores import GOLDEN
from halfcheck.errors import ExitCode, one_line
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.errors import RealBrokerError
from real_brokers.what_if.comparison import compared_run
from real_brokers.what_if.page import write_page
from real_brokers.what_if.real_run import RUN_FILE, STORES, led_run
from real_brokers.what_if.seen import RUNS_COMPARED
from real_brokers.what_if.trials import RELEASES, TRIALS
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from real_brokers.what_if.seen import ComparedRun


def main(arguments: Sequence[str] | None = None) -> int:
    """Lead, simulate and write the page; the exit code is 12 if a run failed."""
    names = ", ".join((*RELEASES, *TRIALS))
    parser = OneLineParser(prog="python -m real_brokers.what_if", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"releases and trials, of {names}; all if none")
    parser.add_argument("--kept", action="store_true", help="only measure and simulate the runs whose stores are kept")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in (*RELEASES, *TRIALS)]
    if unknown:
        parser.error(f"no {unknown[0]!r} here; there are {names}")
    releases = [name for name in options.names if name in RELEASES] or RELEASES
    trials = [name for name in options.names if name in TRIALS] or list(TRIALS)
    pairs = [] if options.page else [(release, trial) for trial in trials for release in releases]

    def work() -> int:
        has_all = [_compare(release, trial, leads=not options.kept) for release, trial in pairs]
        write_page(RUNS_COMPARED.read())
        return ExitCode.OK if all(has_all) else ExitCode.SAFETY_VIOLATED

    return exit_code_after(work)


def _compare(release: str, name: str, *, leads: bool) -> bool:
    """Lead a run, or take the kept one, and keep what was seen; whether there is one."""
    trial = TRIALS[name]
    store = GOLDEN / release / trial.golden if trial.golden else STORES / release / name
    if trial.golden and not store.is_dir():
        return True  # nobody has made one
    try:
        if leads and not trial.golden:
            led_run(release, trial, trial.seed(release), store)
        elif not trial.golden and not (store / RUN_FILE).is_file():
            print(f"{release} {name}: no run is kept in {store}", file=sys.stderr)
            return False
    except (RealBrokerError, WireError) as error:
        print(f"{release} {name}: FAILED: {one_line(error)}", file=sys.stderr, flush=True)
        return False
    seen = compared_run(store, release, trial)
    _keep(seen)
    outside = [measure.name for measure in seen.compared if not measure.is_within]
    within = len(seen.measures) - len(outside)
    print(f"{seen.name}: {within} of {len(seen.measures)} within; outside: {', '.join(outside) or 'none'}", flush=True)
    return True


def _keep(seen: ComparedRun) -> None:
    known = RUNS_COMPARED.read() | {seen.name: seen}
    names = [f"{release} {trial}" for trial in TRIALS for release in RELEASES]
    RUNS_COMPARED.write({name: known[name] for name in names if name in known})


if __name__ == "__main__":
    sys.exit(main())
