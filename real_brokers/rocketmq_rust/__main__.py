"""``make probe-rust``: build rocketmq-rust, probe it, stage what it does differently, and write a page of it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from files.writing import write_whole
from halfcheck.errors import ExitCode
from halfcheck.printing.probe import print_played
from halfcheck.probe.answer import play_json
from halfcheck.probe.judgement import explaining
from halfcheck.probe.schedules import Schedule
from halfcheck.probe.session import Session, identify
from model_check.world import Profile
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.rocketmq.broker import RealBroker
from real_brokers.rocketmq_rust.broker import RustBroker
from real_brokers.rocketmq_rust.crates import built
from real_brokers.rocketmq_rust.difference import RustDifference, stage_all
from real_brokers.rocketmq_rust.differences import DIFFERENCES
from real_brokers.rocketmq_rust.observations import OBSERVATIONS, Observations, read_observations, write_observations
from real_brokers.rocketmq_rust.page import PAGE, page_of
from spec.profiles import VERSIONS
from wire.probe.scenarios import SCENARIOS, scenario_called

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path


PROFILE: Final = "5.5.0+keeps_flag"
"""The release that it is held against, but that its copies keep their flag, as a schedule shows."""
CANDIDATES: Final = (*VERSIONS, PROFILE)
"""Those that are asked of each scenario."""
_OF_A_PLAY: Final = {"transactionTimeOut": "2000", "transactionCheckMax": "15"}
"""More checks than an immunity burns."""
_BATCHES: Final = {True: "20000", False: "3000"}
"""``transactionOpBatchInterval``: longer than it takes to end the process where a scenario does that."""
_ROCKETMQ: Final = "5.5.0"


def main(arguments: Sequence[str] | None = None) -> int:
    """Probe it; the exit code is 0 if all that was asked for was played, whatever it showed.

    It is 12 if a real RocketMQ does not answer as is said of it, 150 if the broker can't be built or started.
    """
    parser = OneLineParser(prog="python -m real_brokers.rocketmq_rust", description=__doc__)
    parser.add_argument("--scenario", action="append", choices=list(SCENARIOS), help="only this one; repeatable")
    names = [difference.name for difference in DIFFERENCES]
    parser.add_argument("--difference", action="append", choices=names, help="only this one; repeatable")
    parser.add_argument("--profile", default=PROFILE, help=f"the specification that it is held against ({PROFILE})")
    parser.add_argument(
        "--rocketmq",
        action="store_true",
        help=f"stage the differences on a real RocketMQ {_ROCKETMQ} instead, which is to show none (wants Maven)",
    )
    parser.add_argument("--page", action="store_true", help="only write the page anew, from what was seen before")
    parser.add_argument("--json", action="store_true", help="print what is kept then as JSON")
    options = parser.parse_args(arguments)
    return exit_code_after(lambda: _main(options))


def _main(options: argparse.Namespace) -> int:
    observations = read_observations(OBSERVATIONS)
    programs = None if options.rocketmq or options.page else built()
    try:
        if programs is not None:
            _probe_rust(programs, options, observations)
        elif options.rocketmq:
            _stage_on_rocketmq(options, observations)
    finally:
        write_observations(observations, OBSERVATIONS)
        write_whole(PAGE, page_of(observations))
    if options.json:
        print(json.dumps(asdict(observations), indent=2, ensure_ascii=False))
    else:
        print(f"written: {PAGE}, from {OBSERVATIONS}")
    return ExitCode.SAFETY_VIOLATED if any(each.is_seen for each in observations.rocketmq.values()) else ExitCode.OK


def _probe_rust(programs: Path, options: argparse.Namespace, observations: Observations) -> None:
    is_all = not options.scenario and not options.difference
    scenarios = list(SCENARIOS) if is_all else options.scenario or []
    if scenarios:
        _play(programs, options, scenarios, observations)
    differences = _asked(options) if is_all or options.difference else []
    for result in stage_all(differences, partial(RustBroker, programs), "rocketmq-rust"):
        observations.staged[result.name] = result


def _stage_on_rocketmq(options: argparse.Namespace, observations: Observations) -> None:
    observations.release = _ROCKETMQ
    for result in stage_all(_asked(options), partial(RealBroker, _ROCKETMQ, "probe"), f"RocketMQ {_ROCKETMQ}"):
        observations.rocketmq[result.name] = result


def _asked(options: argparse.Namespace) -> list[RustDifference]:
    return [each for each in DIFFERENCES if not options.difference or each.name in options.difference]


def _play(programs: Path, options: argparse.Namespace, scenarios: Sequence[str], observations: Observations) -> None:
    """Play scenarios, each on a broker that has seen nothing else, and keep what the specification says of them."""
    for name in scenarios:
        plan = scenario_called(name)
        settings = {**_OF_A_PLAY, "transactionOpBatchInterval": _BATCHES[plan.restarts]}
        with RustBroker(programs, settings) as broker:
            target = identify(broker.address, options.profile, broker.conf)
            session = Session(target, operator=broker)
            try:
                played = session.play(Schedule(name, SCENARIOS[name].story, plan), asks_others=False)
            finally:
                session.close()
        fitting = (
            explaining(played.probed, [Profile.of(name) for name in CANDIDATES], target.conf)
            if played.judgement is not None
            else []
        )
        played = replace(played, also=tuple(each for each in fitting if each != target.profile))
        observations.add_play(play_json(played), map(str, fitting))
        if not options.json:
            print_played(target, played)


if __name__ == "__main__":
    sys.exit(main())
