"""Defects as plain data: what the catalogue says, what is on record, what a search or a scenario has found now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzz.defects.scenario import Played
    from model_check.defects.catalogue import Defect, WrongRepair
    from model_check.defects.findings import Finding
    from model_check.defects.search import Found


def defect_to_json(
    defect: Defect, findings: dict[str, Finding], searched: dict[str, Found], played: Played | None
) -> dict[str, Any]:
    """What scripts rely on: `where`, `profile`, `repaired_in`, `depth`, `seconds`, `property`; the rest was added."""
    asked, finding, found = defect.search, findings.get(defect.identifier), searched.get(defect.identifier)
    told: dict[str, Any] = {
        "where": defect.where.value,
        "profile": None if asked is None else asked.profile,
        "repaired_in": (asked.repaired_in or None) if asked is not None else None,
        "depth": None if finding is None else finding.depth,
        "seconds": None if finding is None else finding.seconds,
        "property": asked.property_id if asked is not None else next(iter(defect.properties), None),
        "also_in": [] if asked is None else list(asked.also_in),
        "clause": None if asked is None else asked.clause.partition(".")[2],
        "environment": None if asked is None else list(asked.faults),
        "instance": None if asked is None else asked.instance,
        "states": None if finding is None else finding.states,
        "readings": [] if finding is None else list(finding.readings),
        "repaired": (finding.repaired or None) if finding is not None else None,
        "name": defect.name,
        "issues": list(defect.issues),
        "affected": defect.affected,
        "fixed": defect.fixed or None,
        "effect": defect.effect,
        "properties": list(defect.properties),
        "evidence": list(defect.evidence),
        "mechanism": defect.mechanism,
        "repair": defect.repair or None,
        "why": defect.why or None,
        "wrong_repairs": [
            _wrong_to_json(wrong, findings.get(name), searched.get(name))
            for wrong, name in ((wrong, defect.recorded_as(wrong)) for wrong in defect.wrong_repairs)
        ],
        "trace": None,
        "replay": None,
        "broker": None if played is None else _played_to_json(played),
    }
    if played is not None and asked is None:
        told |= {
            "profile": played.scenario.affected,
            "repaired_in": played.scenario.repaired_in,
            "also_in": list(played.scenario.also_in),
            "seconds": round(played.seconds, 6),
            "property": played.scenario.property_id,
        }
    if found is not None:
        told |= {**_found_to_json(found), "states": found.affected.distinct}
    return told


def _found_to_json(found: Found) -> dict[str, Any]:
    return {
        "depth": found.depth,
        "seconds": round(found.affected.seconds, 6),
        "repaired": found.absence or None,
        "trace": found.violated.trace_to_json(),
        "replay": found.affected.replay_command(found.violated),
    }


def _played_to_json(played: Played) -> dict[str, Any]:
    scenario = played.scenario
    return {
        "story": scenario.story,
        "property": scenario.property_id,
        "profile": scenario.affected,
        "repaired_in": scenario.repaired_in,
        "also_in": list(scenario.also_in),
        "seconds": round(played.seconds, 6),
        "seen": [{"fact": fact, "affected": bad, "repaired": good} for fact, bad, good in played.rows],
        "test": played.test,
        "command": played.command,
    }


def _wrong_to_json(wrong: WrongRepair, finding: Finding | None, found: Found | None) -> dict[str, Any]:
    asked = wrong.search
    told: dict[str, Any] = {
        "source": wrong.source,
        "proposal": wrong.proposal,
        "breaks": wrong.breaks,
        "profile": None if asked is None else asked.profile,
        "environment": None if asked is None else list(asked.faults),
        "instance": None if asked is None else asked.instance,
        "clause": None if asked is None else asked.clause,
        "depth": None if finding is None else finding.depth,
        "seconds": None if finding is None else finding.seconds,
        "repaired_in": None if asked is None else asked.repaired_in or None,
        "later_on": None if asked is None else asked.later_on or None,
        "repaired": None if finding is None else finding.repaired or None,
        "why": wrong.why or None,
        "trace": None,
        "replay": None,
    }
    return told if found is None else told | _found_to_json(found)
