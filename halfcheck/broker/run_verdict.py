"""What a run of a broker broke: the properties that its trace breaks, and the transactions that its store tells of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

from files.reading import read_bytes
from files.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from pathlib import Path

    from reference.format.broker_conf import BrokerConf
    from spark_trace_analysis.audit.audit import Audit

_MOST_EVENTS_EXPLAINED = 6_000
_LONGEST_TRACE_BYTES = 64 << 20
_FLAG_LOST = "B32"


@dataclass(frozen=True, slots=True)
class BrokenProperty:
    """A property that the trace breaks.

    Attributes
    ----------
    property_id, sentence
        ``S1``, and what it claims.
    event
        The number of events up to the violation.
    """

    property_id: str
    sentence: str
    event: int


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict of one run.

    Attributes
    ----------
    broken
        In the order in which properties are judged.
    audit
        What became of each transaction; None where the run was too long to ask that here, or stored nothing.
    has_stored
        Whether anything was stored.
    """

    broken: tuple[BrokenProperty, ...]
    audit: Audit | None
    has_stored: bool = True

    @property
    def resembles(self) -> dict[str, list[str]]:
        """By id of a defect the unique keys of the transactions that look like it."""
        found: dict[str, list[str]] = {}
        for row in () if self.audit is None else self.audit.transactions:
            for defect in row.resembles:
                found.setdefault(defect, []).append(row.unique_key)
        return dict(sorted(found.items()))

    def to_json(self) -> dict[str, Any]:
        """As it is printed."""
        broken = [{"property": each.property_id, "claims": each.sentence, "event": each.event} for each in self.broken]
        counts = {} if self.audit is None else self.audit.counts
        return {"broken": broken, "resembles": self.resembles, "transactions": counts}


def judge_run(trace: Path, store: Path, conf: BrokerConf, release: str) -> RunVerdict:
    """Judge a run that is over.

    Parameters
    ----------
    trace
        What was recorded.
    store, conf, release
        What it left, its settings, and the release that it was.
    """
    from spark_trace_analysis.audit.audit_store import Question, audit_store

    question = Question(conf=conf, most_events=_MOST_EVENTS_EXPLAINED)
    is_short, has_stored = trace.stat().st_size <= _LONGEST_TRACE_BYTES, (store / "commitlog").is_dir()
    audit = audit_store(store, release, None, question) if is_short and has_stored else None
    broken = tuple(_broken_in(trace, conf, release))
    verdict = RunVerdict(broken, audit, has_stored)
    if audit is not None and _FLAG_LOST not in verdict.resembles:
        # Every copy loses the flag; a message that has none loses nothing.
        verdict = replace(verdict, broken=tuple(each for each in broken if each.property_id != "S6"))
    return verdict


def _broken_in(trace: Path, conf: BrokerConf, release: str) -> list[BrokenProperty]:
    """By the expressions, which need no compiler; the same properties as ``halfcheck analyze``."""
    import polars as pl
    import pyarrow as pa

    from model_check.instances import constants_for
    from model_check.releases import profile_for
    from spark_trace_analysis.ingest.recorded_run import record_run
    from spark_trace_analysis.judge.by_expressions import judge_file
    from spark_trace_analysis.judge.properties import ALL
    from spark_trace_analysis.traces.runs import RunSettings

    if not trace.stat().st_size:
        return []
    profile, _ = profile_for(release)
    settings = RunSettings.of(constants_for(profile, (), "tiny"))._replace(
        check_max=conf.or_default("transactionCheckMax", release),
        timeout=conf.or_default("transactionTimeOut", release),
    )
    with temporary_folder() as folder:
        run = record_run(trace, folder / "run", profile, settings).run
        content = pa.py_buffer(read_bytes(run.folder / run.manifest.files[0].name))
        # What producers decided, a broker's trace does not show.
        seen = set(pl.read_parquet(BytesIO(content.to_pybytes()), columns=["event"])["event"].unique())
        asked = [each for each in ALL if not each.needs or each.needs in seen]
        rows: list[dict[str, Any]] = list(judge_file(content, asked, settings))
    sentences = {each.property_id: each.sentence for each in ALL}
    return [
        BrokenProperty(row["property"], sentences[row["property"]], row["shortest_events"])
        for row in rows
        if row["violations"]
    ]
