"""``make audit-real``: audits real brokers over the network at three moments of each run, and offline beside it.

What was seen of each release and scenario is kept in ``seen.toml``, that of two masters with slaves in
``seen_clusters.toml``, and written from there to ``docs/generated/audited-brokers.md``. A run takes one to two minutes,
and two go on at a time: on a busy machine clients give their sends up. Those of two masters come after the others, one
by one.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from halfcheck.errors import ExitCode, one_line
from real_brokers.audit.audited_run import SCENARIOS, audited_run
from real_brokers.audit.page import write_page
from real_brokers.audit.rust_run import RUST, RUST_RUN, rust_run
from real_brokers.audit.seen import CLUSTERS_SEEN, RUNS_SEEN, SeenCluster, SeenRun
from real_brokers.audit.two_masters import CLUSTER_RELEASES, CLUSTERS, cluster_run
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.errors import RealBrokerError
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.defects.findings import FindingsFile

RELEASES: Final = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0", "5.5.1")
Seen = TypeVar("Seen", SeenRun, SeenCluster)
_AT_ONCE: Final = 2
_writing = Lock()


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit what is named, or all, and write the page; the exit code is 12 if something is not as it should be."""
    known = (*RELEASES, *SCENARIOS, *CLUSTERS, RUST)
    parser = OneLineParser(prog="python -m real_brokers.audit", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"releases and scenarios, of {', '.join(known)}; all if none"
    )
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no {unknown[0]!r} here; there are {', '.join(known)}")
    runs = AskedRuns(tuple(options.names))

    def work() -> int:
        is_right = True
        if not options.page:
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                try:
                    is_right = all(list(pool.map(lambda pair: _audit(*pair), runs.of_one_broker)))
                except BaseException:  # Ctrl-C: what has not begun must not begin
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
            if runs.of_rust:
                is_right = _audit_rust() and is_right
            of_clusters = [_audit_cluster(*pair) for pair in runs.of_clusters]
            is_right = is_right and all(of_clusters)
        write_page(RUNS_SEEN.read(), CLUSTERS_SEEN.read())
        return ExitCode.OK if is_right else ExitCode.SAFETY_VIOLATED

    return exit_code_after(work)


@dataclass(frozen=True, slots=True)
class AskedRuns:
    """The runs that some names ask for: all of a release, all of a scenario, or those that both name."""

    names: tuple[str, ...]

    @property
    def of_one_broker(self) -> list[tuple[str, str]]:
        """Release and scenario of each."""
        return self._pairs(SCENARIOS, RELEASES)

    @property
    def of_rust(self) -> bool:
        """Whether rocketmq-rust is audited, too."""
        return not self.names or RUST in self.names

    @property
    def of_clusters(self) -> list[tuple[str, str]]:
        """Release and scenario of each with two masters."""
        return self._pairs(CLUSTERS, CLUSTER_RELEASES)

    def _pairs(self, scenarios: Iterable[str], usual: Sequence[str]) -> list[tuple[str, str]]:
        releases = [name for name in self.names if name in RELEASES] or list(usual)
        asked = [name for name in self.names if name not in RELEASES]
        if not asked:  # of a release all that is usual for it
            releases = [name for name in releases if name in usual]
        return [(one, name) for name in scenarios if not asked or name in asked for one in releases]


def _audit(release: str, scenario: str) -> bool:
    """Audit one run and keep what was seen; whether both ways agree, and all came as it was foretold."""
    try:
        return _is_right(audited_run(release, scenario))
    except (RealBrokerError, WireError) as error:
        return _failed(f"{release} {scenario}", error)


def _audit_rust() -> bool:
    """The same of rocketmq-rust."""
    try:
        return _is_right(rust_run())
    except (RealBrokerError, WireError) as error:
        return _failed(RUST, error)


def _is_right(seen: SeenRun) -> bool:
    with _writing:
        _keep(RUNS_SEEN, seen, [*(f"{one} {name}" for one in RELEASES for name in SCENARIOS), RUST_RUN])
    print(
        f"{seen.name}: {seen.compared} rows, {len(seen.differences)} differences, {seen.checks + seen.discards} "
        f"forecasts of {seen.halves} halves, {len(seen.misses)} missed",
        flush=True,
    )
    return not seen.differences and not seen.misses


def _audit_cluster(release: str, scenario: str) -> bool:
    """The same of two masters with slaves."""
    try:
        seen = cluster_run(release, scenario)
    except (RealBrokerError, WireError) as error:
        return _failed(f"{release} {scenario}", error)
    _keep(CLUSTERS_SEEN, seen, [f"{one} {name}" for one in RELEASES for name in CLUSTERS])
    rows = sum(count for *_, count, _ in seen.audited)
    print(f"{seen.name}: {rows} rows, {len(seen.differences)} differences", flush=True)
    return not seen.differences


def _failed(run: str, error: Exception) -> bool:
    print(f"{run}: FAILED: {one_line(error)}", file=sys.stderr, flush=True)
    return False


def _keep(file: FindingsFile[Seen], seen: Seen, order: Sequence[str]) -> None:
    known = file.read() | {seen.name: seen}
    file.write({name: known[name] for name in order if name in known})


if __name__ == "__main__":
    sys.exit(main())
