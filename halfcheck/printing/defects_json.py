"""What ``halfcheck defects --json`` gives of a defect: the catalogue's entry, what is on record, what was found now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.defects.in_releases import ranges_of
from model_check.defects.symptoms import symptoms_of

if TYPE_CHECKING:
    from fuzz.defects.scenario import PlayedScenario
    from halfcheck.printing.defect_lists import OnRecord
    from model_check.defects.catalogue import Defect, WrongRepair
    from model_check.defects.findings import BrokerFinding, Finding, LassoFinding
    from model_check.defects.question import LassoQuestion
    from model_check.defects.search import Found


def defect_to_json(
    defect: Defect,
    on_record: OnRecord,
    searched: dict[str, Found],
    played: PlayedScenario | None,
    endless: LassoFinding | None,
) -> dict[str, Any]:
    """What scripts rely on: `where`, `profile`, `repaired_in`, `depth`, `seconds`, `property`; the rest was added."""
    findings, shown = on_record.findings, on_record.shown.get(defect.identifier)
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
        "lasso": None if defect.lasso is None else _lasso_to_json(defect.lasso, endless),
        "trace": None,
        "replay": None,
        "broker": _broker_to_json(defect.identifier, shown, played),
        "releases": [{"first": part.first, "last": part.last or None} for part in ranges_of(defect)],
        "symptoms": list(symptoms_of(defect.identifier)),
    }
    if asked is None and told["broker"] is not None:
        told |= {name: told["broker"][name] for name in ("profile", "repaired_in", "also_in", "seconds", "property")}
    if found is not None:
        told |= {**_found_to_json(found), "states": found.affected.distinct}
    return told


def _lasso_to_json(asked: LassoQuestion, finding: LassoFinding | None) -> dict[str, Any]:
    return {
        "response": asked.response,
        "profile": asked.profile,
        "environment": list(asked.faults),
        "instance": asked.instance,
        "repaired_in": asked.repaired_in or None,
        "stem": None if finding is None or asked.vanishes else finding.stem,
        "cycle": None if finding is None or asked.vanishes else finding.cycle,
        "vanishes": asked.vanishes or None,
        "command": asked.command,
    }


def _found_to_json(found: Found) -> dict[str, Any]:
    return {
        "depth": found.depth,
        "seconds": round(found.affected.seconds, 6),
        "repaired": found.absence or None,
        "trace": found.violated.trace_to_json(),
        "replay": found.affected.replay_command(found.violated),
    }


def _broker_to_json(
    identifier: str, shown: BrokerFinding | None, played: PlayedScenario | None
) -> dict[str, Any] | None:
    """What is on record, or what was seen now and how long that took."""
    if shown is None:
        return None
    seen = shown.seen if played is None else played.rows
    return {
        "story": shown.story,
        "property": shown.property_id,
        "profile": shown.affected,
        "repaired_in": shown.repaired_in,
        "also_in": list(shown.also_in),
        "seconds": None if played is None else round(played.seconds, 6),
        "seen": [{"fact": fact, "affected": bad, "repaired": good} for fact, bad, good in seen],
        "test": shown.test,
        "command": f"halfcheck defects {identifier}",
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
