"""``make real-broker VERSION=5.5.0 SCENARIO=late``: leads a real broker through a scenario and keeps its store.

The store appears in ``build/real-broker/VERSION/SCENARIO``, in the form of the golden ones. ``--lock VERSION`` writes
the file of a release's hashes anew, from what Maven brings.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.releases.jars import RELEASES, fetch, release_called, write_hashes
from real_brokers.command_line import exit_code_after
from real_brokers.errors import RealBrokerError
from real_brokers.rocketmq.broker import RealBroker
from real_brokers.rocketmq.scenarios import SCENARIOS, scenario_called

if TYPE_CHECKING:
    from collections.abc import Sequence

STORES: Final = Path(__file__).parents[2] / "build" / "real-broker"
"""A folder a release, in it one a scenario."""

_INTERRUPTED: Final = "interrupted; broker and name server are stopped, and no store was written"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a store, or a file of hashes; the exit code is 0, 150 if it can't be done, 151 for a bad name or option."""
    parser = argparse.ArgumentParser(
        prog="python -m real_brokers.rocketmq",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
    return exit_code_after(lambda: _lock(options.version) if options.lock else _make(options), _INTERRUPTED)


def _make(options: argparse.Namespace) -> int:
    """Lead a broker through a scenario; the folder with what it wrote appears by rename, or stays as it was."""
    if options.scenario is None:
        message = f"no scenario is given; there are {', '.join(SCENARIOS)}"
        raise RealBrokerError(message, exit_code=151)
    changed = {}
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not name or not equals:
            message = f"--set {setting}: not NAME=VALUE, such as transactionTimeOut=3000"
            raise RealBrokerError(message, exit_code=151)
        changed[name] = value
    release, scenario = release_called(options.version), scenario_called(options.scenario)
    out = options.out or STORES / options.version / options.scenario
    if out.exists() and not (out / "meta.json").is_file():
        message = f"--out {out}: it is there and no store of such a run, so it is not replaced; name another place"
        raise RealBrokerError(message, exit_code=151)
    settings = {**scenario.settings_for(release), **changed}
    with RealBroker(options.version, options.scenario, settings) as broker:
        scenario.lead(broker)
        broker.finish(out)
    print(out)
    return 0


def _lock(version: str) -> int:
    release = release_called(version)
    with TemporaryDirectory() as temporary:
        fetch(release, Path(temporary))
        print(write_hashes(release, Path(temporary)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
