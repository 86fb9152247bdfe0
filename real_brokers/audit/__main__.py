"""``make audit-real``: audits real brokers over the network at three moments of each run, and offline beside it.

What was seen of each release and scenario is kept in ``seen.toml``, and written from there to
``docs/generated/audited-brokers.md``. A run takes one to two minutes, and two go on at a time: on a
busy machine clients give their sends up.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Final

from halfcheck.errors import ExitCode, one_line
from real_brokers.audit.audited_run import SCENARIOS, audited_run
from real_brokers.audit.page import write_page
from real_brokers.audit.seen import RUNS_SEEN, SeenRun
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.errors import RealBrokerError
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence

RELEASES: Final = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0", "5.5.1")
_AT_ONCE: Final = 2
_writing = Lock()


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit what is named, or all, and write the page; the exit code is 12 if something is not as it should be."""
    names = ", ".join((*RELEASES, *SCENARIOS))
    parser = OneLineParser(prog="python -m real_brokers.audit", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"releases and scenarios, of {names}; all if none")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in (*RELEASES, *SCENARIOS)]
    if unknown:
        parser.error(f"no {unknown[0]!r} here; there are {names}")
    releases = [name for name in options.names if name in RELEASES] or RELEASES
    scenarios = [name for name in options.names if name in SCENARIOS] or list(SCENARIOS)
    pairs = [] if options.page else [(release, scenario) for scenario in scenarios for release in releases]

    def work() -> int:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            try:
                is_right = all(list(pool.map(lambda pair: _audit(*pair), pairs)))
            except BaseException:  # Ctrl-C: what has not begun must not begin
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        write_page(RUNS_SEEN.read())
        return ExitCode.OK if is_right else ExitCode.SAFETY_VIOLATED

    return exit_code_after(work)


def _audit(release: str, scenario: str) -> bool:
    """Audit one run and keep what was seen; whether both ways agree, and all came as it was foretold."""
    try:
        seen = audited_run(release, scenario)
    except (RealBrokerError, WireError) as error:
        print(f"{release} {scenario}: FAILED: {one_line(error)}", file=sys.stderr, flush=True)
        return False
    _keep(seen)
    print(
        f"{seen.name}: {seen.compared} rows, {len(seen.differences)} differences, {seen.checks + seen.discards} "
        f"forecasts of {seen.halves} halves, {len(seen.misses)} missed",
        flush=True,
    )
    return not seen.differences and not seen.misses


def _keep(seen: SeenRun) -> None:
    with _writing:
        known = RUNS_SEEN.read() | {seen.name: seen}
        names = [f"{release} {scenario}" for release in RELEASES for scenario in SCENARIOS]
        RUNS_SEEN.write({name: known[name] for name in names if name in known})


if __name__ == "__main__":
    sys.exit(main())
