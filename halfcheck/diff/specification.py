"""A store, a recorded trace or a run of the reference broker against the specification of a version."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

from conformance.fit_schedule import fit_schedule
from conformance.recorded_run import RecordedRun
from files.temporary_folder import temporary_folder
from halfcheck.diff.sides import DiffAnswer, Side, SideKind
from halfcheck.printing.progress import live_line, telling_bytes
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
from reference.format.store_paths import StorePaths, store_paths
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.explanation.recorded_verdict import RecordedQuestion, judge_recorded
from spark_trace_analysis.audit.opened_store import StoreQuestion
from spark_trace_analysis.ingest.driver_log import find_driver_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from model_check.world import Profile
    from spec.constants import Instance

    Report = Callable[[int, int], None]


def explain(side: Side, profile: Profile, why: str, broker_conf: Path | None, instance: Instance | None) -> DiffAnswer:
    """Search for a path of the specification that leaves what is on the other side."""
    conf = None if broker_conf is None else read_broker_conf(broker_conf, profile.name)
    with live_line(f"reading {side.name}") as tell:
        report = tell and _telling_events(tell, side.name)
        read = tell and telling_bytes(tell, f"reading {side.name}")
        if side.kind is SideKind.TRACE:
            return _explain_recorded(side, profile, why, conf, instance, report)
        question = StoreQuestion(
            profiles=(profile,), why=why, conf=conf, conf_path=broker_conf, most_events=sys.maxsize, report=report
        )
        if side.kind is SideKind.STORE:
            return _explain_store(side.name, side.paths, question, read)
        with temporary_folder() as folder:
            store = folder / side.path.resolve().name
            _write_reference_store(side.path, broker_conf, store)
            return _explain_store(side.name, store_paths(store), question, read)


def _telling_events(tell: Callable[[object], None], name: str) -> Report:
    return lambda done, total: tell(f"explaining {name}: {done:,} of {total:,} events")


def _write_reference_store(of: Path, broker_conf: Path | None, store: Path) -> None:
    """The store that the reference broker writes, with the settings and the producer's log of the one it follows."""
    fit = fit_schedule(RecordedRun(of, broker_conf))
    for name, content in fit.disk.files().items():
        path = store / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for beside in (find_broker_conf(of), find_driver_log(of)):
        if beside is not None:
            shutil.copy(beside, store / beside.name)


def _explain_store(name: str, store: StorePaths, question: StoreQuestion, read: Report | None) -> DiffAnswer:
    audit = audit_store(store, None, read, question)
    return DiffAnswer(
        records=audit.events,
        identical=audit.trace.accepted,
        first_difference=_first_difference(audit.trace.divergence_json()),
        trace=audit.trace.to_json(),
        lines=_lines(f"{name}: {audit.events} records of transactions, {audit.trace.sentence()}", question.why),
        reason=audit.trace.reason,
    )


def _first_difference(divergence: dict[str, Any] | None) -> dict[str, Any] | None:
    """The event that no path explains, the guard that refuses it, and what was possible instead."""
    if divergence is None:
        return None
    event = divergence["event"]
    return {"record": event["text"], "field": divergence["guard"], "left": event, "right": divergence["nearest"]}


def _lines(sentence: str, why: str) -> tuple[str, ...]:
    return (sentence, why) if why else (sentence,)


def _explain_recorded(
    side: Side, profile: Profile, why: str, conf: BrokerConf | None, instance: Instance | None, report: Report | None
) -> DiffAnswer:
    question = RecordedQuestion(
        profile=profile,
        conf=conf or _conf_beside(side.path, profile),
        instance=instance,
        report=report,
    )
    verdict = judge_recorded(side.path, question)
    content = verdict.to_json()
    return DiffAnswer(
        records=verdict.events,
        identical=verdict.accepted,
        first_difference=_first_difference(content["divergence"]),
        trace={**content, "why_profile": why},
        lines=_lines(f"{side.name}: {verdict.events} events, {verdict.sentence()}", why),
    )


def _conf_beside(trace: Path, profile: Profile) -> BrokerConf:
    """The settings in a ``broker.conf`` beside the trace, or the defaults of the version."""
    path = find_broker_conf(trace.parent)
    return BrokerConf() if path is None else read_broker_conf(path, profile.name)
