"""Play the scenarios of the catalogue's defects and record what was seen: `python -m fuzz.defects [ID…]`.

Writes `model_check/defects/broker_findings.toml`; with ids, what is on record of the others stays. `make defects` runs
it, and then `python -m model_check.defects`, which writes `docs/generated/defects.md` from it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from fuzz.defects.scenario import PlayedScenario, ScenarioError, play, scenarios
from model_check.defects.catalogue import defect_called
from model_check.defects.findings import BROKER_FINDINGS, BrokerFinding

if TYPE_CHECKING:
    from collections.abc import Sequence


def finding_of(played: PlayedScenario) -> BrokerFinding:
    """The record of a played scenario."""
    scenario = played.scenario
    return BrokerFinding(
        story=scenario.story,
        property_id=scenario.property_id,
        affected=scenario.affected.name,
        repaired_in=scenario.repaired_in.name,
        also_in=tuple(map(str, scenario.also_in)),
        seen=played.rows,
        test=played.test,
    )


def main(arguments: Sequence[str]) -> int:
    """Play and record; a scenario that goes another way is reported on stderr, and the exit code is 75 then."""
    wanted = {defect_called(name).identifier for name in arguments}
    recorded = BROKER_FINDINGS.read() if BROKER_FINDINGS.path.exists() else {}
    findings = {}
    failed = 0
    for identifier, scenario in scenarios().items():
        if wanted and identifier not in wanted:
            findings.update({identifier: recorded[identifier]} if identifier in recorded else {})
            continue
        try:
            findings[identifier] = finding_of(play(scenario))
        except ScenarioError as error:
            failed = error.exit_code
            print(f"{identifier}: {error}", file=sys.stderr)
            continue
        print(f"{identifier}: {scenario.story}", flush=True)
    BROKER_FINDINGS.write(findings)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
