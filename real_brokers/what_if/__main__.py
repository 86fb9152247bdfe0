"""``make what-if-real``: leads real brokers under a workload, simulates the same, holds each measure in its interval.

``advice`` leads what a sweep advises instead, which takes five minutes a run and simulates its sweeps before.
Stores are kept in ``build/what-if-real``; what was seen of each release and trial is kept in ``seen.toml``, and written
from there to ``docs/generated/how-often-on-real-brokers.md``. A run takes two to three minutes, one at a time, and its
simulation some minutes more.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from conformance.golden_stores import GOLDEN
from halfcheck.errors import ExitCode, one_line
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.errors import RealBrokerError
from real_brokers.what_if.advised_settings import (
    ADVISED,
    AFTER,
    BEFORE,
    FOLDER,
    advice_of,
    compared_advice,
    settings_at,
)
from real_brokers.what_if.comparison import compared_run
from real_brokers.what_if.page import write_page
from real_brokers.what_if.real_run import RUN_FILE, STORES, led_run
from real_brokers.what_if.seen import ADVICE_COMPARED, RUNS_COMPARED
from real_brokers.what_if.trials import RELEASES, TRIALS
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from real_brokers.what_if.advised_settings import AdvisedTrial
    from real_brokers.what_if.seen import ComparedRun

_ADVICE: Final = "advice"


def main(arguments: Sequence[str] | None = None) -> int:
    """Lead, simulate and write the page; the exit code is 12 if a run failed."""
    names = ", ".join((*RELEASES, *TRIALS, _ADVICE))
    parser = OneLineParser(prog="python -m real_brokers.what_if", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"releases and trials, of {names}; all releases and trials if none"
    )
    parser.add_argument("--kept", action="store_true", help="only measure and simulate the runs whose stores are kept")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in (*RELEASES, *TRIALS, _ADVICE)]
    if unknown:
        parser.error(f"no {unknown[0]!r} here; there are {names}")
    releases = [name for name in options.names if name in RELEASES] or RELEASES
    trials = [name for name in options.names if name in TRIALS] or list(TRIALS)
    is_advice = _ADVICE in options.names
    pairs = [] if options.page or is_advice else [(release, trial) for trial in trials for release in releases]

    def work() -> int:
        has_all = [_compare(release, trial, leads=not options.kept) for release, trial in pairs]
        if is_advice:
            has_all = [_advise(trial, leads=not options.kept) for trial in ADVISED.values()]
        write_page(RUNS_COMPARED.read(), ADVICE_COMPARED.read())
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


def _advise(trial: AdvisedTrial, *, leads: bool) -> bool:
    """Sweep, lead the runs before and after, or take the kept ones, and keep what was seen; whether there are both."""
    try:
        answer, folder = trial.swept(), FOLDER / trial.name
        for place, point in ((BEFORE, answer.yours), (AFTER, advice_of(trial, answer))):
            led = trial.led(settings_at(point, answer))
            if leads:
                led_run(trial.version, led, led.seed(trial.version), folder / place)
            elif not (folder / place / RUN_FILE).is_file():
                print(f"{trial.name}: no run is kept in {folder / place}", file=sys.stderr)
                return False
    except (RealBrokerError, WireError) as error:
        print(f"{trial.name}: FAILED: {one_line(error)}", file=sys.stderr, flush=True)
        return False
    seen = compared_advice(trial, answer, folder)
    known = ADVICE_COMPARED.read() | {seen.name: seen}
    ADVICE_COMPARED.write({name: known[name] for name in ADVISED if name in known})
    found = [each for measure in seen.compared for each in measure.compared]
    outside = [each.name for each in found if not each.is_within]
    within = len(found) - len(outside)
    print(f"{seen.name}: {within} of {len(found)} within; outside: {', '.join(outside) or 'none'}", flush=True)
    return True


def _keep(seen: ComparedRun) -> None:
    known = RUNS_COMPARED.read() | {seen.name: seen}
    names = [f"{release} {trial}" for trial in TRIALS for release in RELEASES]
    RUNS_COMPARED.write({name: known[name] for name in names if name in known})


if __name__ == "__main__":
    sys.exit(main())
