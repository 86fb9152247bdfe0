"""``make probe-real VERSION=5.3.3``: start a real broker, and probe it as ``halfcheck probe`` does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from conformance.releases.jars import RELEASES
from halfcheck.commands.probe import ProbeOptions
from halfcheck.probe.probing import probe
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.rocketmq.broker import RealBroker
from wire.probe.scenarios import SCENARIOS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

SETTINGS: Final = {"transactionTimeOut": "2000", "transactionCheckInterval": "1000", "transactionCheckMax": "15"}

_USUAL: Final = [name for name in SCENARIOS if name != "unanswered"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Probe a real broker; the exit code is that of ``halfcheck probe``."""
    parser = OneLineParser(prog="python -m real_brokers.probe", description=__doc__)
    parser.add_argument("version", help=f"of the broker: {', '.join(RELEASES)}")
    parser.add_argument("--profile", help="the specification that it is held against; else its own")
    parser.add_argument("--scenario", action="append", help=f"one of {', '.join(SCENARIOS)} (all of them); repeatable")
    parser.add_argument("--examples", type=int, default=0, help="schedules drawn by Hypothesis instead")
    parser.add_argument("--property", action="append", help="which failures count there; repeatable")
    parser.add_argument("--seed", type=int, default=7, help="where the drawn schedules come from")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    return exit_code_after(lambda: _probe(options))


def _probe(options: argparse.Namespace) -> int:
    with RealBroker(options.version, "probe", SETTINGS) as broker:
        asked = ProbeOptions(
            target=str(broker.address),
            scenario=options.scenario or ([] if options.examples else _USUAL),
            examples=options.examples,
            properties=options.property,
            seed=options.seed,
            profile=options.profile,
            store=broker.store,
            json=options.json,
        )
        return probe(asked, broker)


if __name__ == "__main__":
    sys.exit(main())
