"""A defect as ``halfcheck defects --json`` gives it: the catalogue's entry, the findings on record and of now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.defects.affected import ranges_of
from model_check.defects.findings import evidence_of, on_classes_in_words
from model_check.defects.lookup import symptoms_of

if TYPE_CHECKING:
    from fuzz.defects.scenario import PlayedScenario
    from halfcheck.commands.defects import OnRecord
    from model_check.defects.catalogue import Defect, LassoSearch, WrongRepair
    from model_check.defects.findings import BrokerFinding, DefectFinding, LassoFinding
    from model_check.defects.search import FoundDefect


def defect_to_json(
    defect: Defect,
    on_record: OnRecord,
    searched: dict[str, FoundDefect],
    played: PlayedScenario | None,
    endless: LassoFinding | None,
) -> dict[str, Any]:
    """Scripts rely on `where`, `profile`, `repaired_in`, `depth`, `seconds`, `property`; the rest was added."""
    findings, shown = on_record.findings, on_record.shown.get(defect.identifier)
    on_classes = on_record.on_classes.get(defect.identifier)
    asked, finding, found = defect.search, findings.get(defect.identifier), searched.get(defect.identifier)
    entry: dict[str, Any] = {
        "where": defect.where.value,
        "profile": None if asked is None else asked.world.profile.name,
        "repaired_in": None if asked is None or asked.repaired_in is None else asked.repaired_in.name,
        "depth": None if finding is None else finding.depth,
        "seconds": None if finding is None else finding.seconds,
        "property": asked.clause.identifier if asked is not None else next(iter(defect.properties), None),
        "also_in": [] if asked is None else [profile.name for profile in asked.also_in],
        "clause": None if asked is None else asked.clause.clause,
        "environment": None if asked is None else list(asked.world.environment),
        "instance": None if asked is None else asked.world.instance.name,
        "states": None if finding is None else finding.states,
        "readings": [] if finding is None else list(finding.engines),
        "repaired": (finding.repaired or None) if finding is not None else None,
        "name": defect.name,
        "issues": list(defect.issues),
        "affected": defect.affected,
        "fixed": defect.fixed or None,
        "effect": defect.effect,
        "properties": list(defect.properties),
        "evidence": list(evidence_of(defect, on_classes)),
        "on_classes": {
            "releases": [] if on_classes is None else list(on_classes.releases),
            "by": None if on_classes is None else on_classes.by,
            "in_words": on_classes_in_words(defect, on_classes),
        },
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
    if asked is None and entry["broker"] is not None:
        entry |= {name: entry["broker"][name] for name in ("profile", "repaired_in", "also_in", "seconds", "property")}
    if found is not None:
        entry |= {**_found_to_json(found), "states": found.affected.numbers.distinct}
    return entry


def _lasso_to_json(asked: LassoSearch, finding: LassoFinding | None) -> dict[str, Any]:
    return {
        "response": asked.subject,
        "profile": asked.world.profile.name,
        "environment": list(asked.world.environment),
        "instance": asked.world.instance.name,
        "repaired_in": None if asked.repaired_in is None else asked.repaired_in.name,
        "stem": None if finding is None or asked.vanishes else finding.stem,
        "cycle": None if finding is None or asked.vanishes else finding.cycle,
        "vanishes": asked.vanishes or None,
        "command": asked.command,
    }


def _found_to_json(found: FoundDefect) -> dict[str, Any]:
    return {
        "depth": found.depth,
        "seconds": round(found.affected.numbers.seconds, 6),
        "repaired": found.absence or None,
        "trace": found.violated.trace_to_json(),
        "replay": found.violated.command,
    }


def _broker_to_json(
    identifier: str, shown: BrokerFinding | None, played: PlayedScenario | None
) -> dict[str, Any] | None:
    """The facts on record, or those seen now and how long that took."""
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


def _wrong_to_json(wrong: WrongRepair, finding: DefectFinding | None, found: FoundDefect | None) -> dict[str, Any]:
    asked = wrong.search
    entry: dict[str, Any] = {
        "source": wrong.source,
        "proposal": wrong.proposal,
        "breaks": wrong.breaks,
        "profile": None if asked is None else asked.world.profile.name,
        "environment": None if asked is None else list(asked.world.environment),
        "instance": None if asked is None else asked.world.instance.name,
        "clause": None if asked is None else asked.subject,
        "depth": None if finding is None else finding.depth,
        "seconds": None if finding is None else finding.seconds,
        "repaired_in": None if asked is None or asked.repaired_in is None else asked.repaired_in.name,
        "later_on": None if asked is None or asked.later_on is None else asked.later_on.name,
        "repaired": None if finding is None else finding.repaired or None,
        "why": wrong.why or None,
        "trace": None,
        "replay": None,
    }
    return entry if found is None else entry | _found_to_json(found)
