"""``make probe-real VERSION=5.3.3``: start a real broker, and probe it as ``halfcheck probe`` does."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING, Final

from conformance.real.releases import RELEASES
from halfcheck.errors import exit_code_of, one_line
from halfcheck.probe.probe_options import ProbeOptions
from halfcheck.probe.probing import probe
from halfcheck.probe.real.hosted import HostedBroker
from wire.probe.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Sequence

SETTINGS: Final = {"transactionTimeOut": "2000", "transactionCheckInterval": "1000", "transactionCheckMax": "15"}
_TERMINATED: Final = 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Probe a real broker; the exit code is that of ``halfcheck probe``."""
    parser = argparse.ArgumentParser(prog="python -m halfcheck.probe.real", description=__doc__)
    parser.add_argument("version", help=f"of the broker: {', '.join(RELEASES)}")
    parser.add_argument("--profile", help="the specification that it is held against; else its own")
    parser.add_argument("--scenario", action="append", help=f"one of {', '.join(SCENARIOS)} (all of them); repeatable")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        with HostedBroker(options.version, SETTINGS) as broker:
            asked = ProbeOptions(
                target=str(broker.address),
                scenario=options.scenario or [name for name in SCENARIOS if name != "unanswered"],
                profile=options.profile,
                json=options.json,
            )
            return probe(asked, broker)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - every end of it becomes a line and an exit code
        print(one_line(error), file=sys.stderr)
        return exit_code_of(error)


if __name__ == "__main__":
    sys.exit(main())
