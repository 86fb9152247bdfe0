"""``make real-broker VERSION=5.5.0 SCENARIO=late``: leads a real broker through a scenario and keeps its store.

The store appears in ``build/real-broker/VERSION/SCENARIO``, in the form of the golden ones. ``--lock VERSION`` writes
the file of a release's hashes anew, from what Maven brings.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.errors import ConformanceError, RealBrokerError
from conformance.real.real_broker import RealBroker
from conformance.real.releases import RELEASES, fetch, fetched_jars, release_called, write_hashes
from conformance.real.scenarios import SCENARIOS, scenario_called

if TYPE_CHECKING:
    from collections.abc import Sequence

BUILT: Final = Path(__file__).parents[2] / "build" / "real-broker"
_INTERRUPTED: Final = 130
_TERMINATED: Final = 143


def make_store(version: str, scenario: str, out: Path, changed: dict[str, str], jars: Path) -> None:
    """Lead a broker of a version through a scenario, and keep what it wrote in a folder.

    Parameters
    ----------
    version, scenario
        Names of :data:`conformance.real.releases.RELEASES` and :data:`conformance.real.scenarios.SCENARIOS`.
    out
        The folder, written by rename.
    changed
        Further settings of ``broker.conf``; they win over those of the scenario.
    jars
        Where the jars of all releases are kept.

    Raises
    ------
    RealBrokerError
        The run could not be made, or `out` is there and no store of such a run; no process is left, `out` is as it was.
    """
    release, chosen = release_called(version), scenario_called(scenario)
    if out.exists() and not (out / "meta.json").is_file():
        message = f"--out {out}: it is there and no store of such a run, so it is not replaced; name another place"
        raise RealBrokerError(message, exit_code=151)
    settings = {**chosen.settings_for(release), **changed}
    with RealBroker(release, fetched_jars(release, jars), scenario, settings) as broker:
        chosen.lead(broker)
        broker.finish(out)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a store, or a file of hashes; the exit code is 0, 150 if it can't be done, 151 for a bad name or option."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.real", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    stories = "\n".join(f"  {name:14} {scenario.story}" for name, scenario in SCENARIOS.items())
    parser.epilog = f"versions: {', '.join(RELEASES)}\nscenarios:\n{stories}"
    parser.add_argument("version", help="of the broker")
    parser.add_argument("scenario", nargs="?", help="which one")
    parser.add_argument("--out", type=Path, help="where to write the store")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of broker.conf")
    parser.add_argument(
        "--lock", action="store_true", help="write the hashes of the version's jars anew, and do no more"
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)
    try:
        if options.lock:
            _lock(options.version)
        else:
            _make(options.version, options.scenario, options.out, options.set)
    except ConformanceError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; broker and name server are stopped, and no store was written", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _make(version: str, scenario: str | None, out: Path | None, given: list[str]) -> None:
    if scenario is None:
        message = f"no scenario is given; there are {', '.join(SCENARIOS)}"
        raise RealBrokerError(message, exit_code=151)
    changed = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not name or not equals:
            message = f"--set {setting}: not NAME=VALUE, such as transactionTimeOut=3000"
            raise RealBrokerError(message, exit_code=151)
        changed[name] = value
    target = out or BUILT / version / scenario
    make_store(version, scenario, target, changed, BUILT / "jars")
    print(target)


def _lock(version: str) -> None:
    release = release_called(version)
    with TemporaryDirectory() as temporary:
        fetch(release, Path(temporary))
        print(write_hashes(release, Path(temporary)))


def _end(*_: object) -> None:
    sys.exit(_TERMINATED)


if __name__ == "__main__":
    sys.exit(main())
