"""The verdict on a run of a broker: the properties that its trace breaks, and the transactions in its store."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from files.content import parse_json
from files.reading import read_lines
from halfcheck.broken_properties import BrokenProperty, broken_properties

if TYPE_CHECKING:
    from pathlib import Path

    from reference.format.broker_conf import BrokerConf
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from wire.node.answers import ChecksOfClient
    from wire.node.broker_node import BrokerNode

_MOST_EVENTS_EXPLAINED = 6_000
_LONGEST_TRACE_BYTES = 64 << 20
_FLAG_LOST = "B32"


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict of one run; broken properties stand in the order in which they are judged.

    The audit is None where the run was too long to ask it here, or stored nothing. The checks that are `unanswered`
    reached clients; `refused` counts END_TRANSACTIONs by code and remark other than SUCCESS; `in_memory` holds the
    unique keys of those whose op message waited in memory as the broker was stopped, and was lost; `unused_faults` are
    the ordered faults that befell nothing, as the control port has them.
    """

    broken: tuple[BrokenProperty, ...]
    audit: Audit | None
    has_stored: bool = True
    unanswered: tuple[ChecksOfClient, ...] = ()
    refused: tuple[tuple[int, str, int], ...] = ()
    in_memory: tuple[str, ...] = ()
    unused_faults: tuple[dict[str, Any], ...] = ()

    @property
    def unexplained(self) -> tuple[BrokenProperty, ...]:
        """The broken properties that no ordered fault explains."""
        return tuple(each for each in self.broken if not each.ordered)

    @property
    def left(self) -> dict[str, list[TransactionRow]]:
        """By state the transactions that are neither delivered once nor rolled back."""
        found: dict[str, list[TransactionRow]] = {}
        for row in () if self.audit is None else self.audit.transactions:
            if row.state not in ("delivered", "rolled_back"):
                found.setdefault(row.state.value, []).append(row)
        return found

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
        broken = [
            {
                "property": each.property_id,
                "claims": each.sentence,
                "event": each.event,
                "only_by_the_stop": each.is_by_the_stop,
                "ordered": list(each.ordered),
            }
            for each in self.broken
        ]
        return {
            "no_verdict": None,
            "unused_faults": list(self.unused_faults),
            "broken": broken,
            "resembles": self.resembles,
            "transactions": {} if self.audit is None else self.audit.counts,
            "left": [
                {"state": state, **{name: getattr(row, name) for name in ("unique_key", "keys", "group", "topic")}}
                for state, rows in self.left.items()
                for row in rows
            ],
            "unanswered_checks": [
                {
                    "group": each.group,
                    "client": each.client,
                    "delivered": each.delivered,
                    "unanswered": each.unanswered,
                    "keys": list(each.keys),
                }
                for each in self.unanswered
            ],
            "refused_ends": [{"code": code, "remark": remark, "times": times} for code, remark, times in self.refused],
            "in_memory_at_the_stop": list(self.in_memory),
        }


def judge_run(trace: Path, store: Path, conf: BrokerConf, release: str, node: BrokerNode | None = None) -> RunVerdict:
    """Judge a run that is over, by its trace, the store that it left, its settings, and what the node knows besides.

    Raises
    ------
    MissingLibrariesError
        The extra ``verdict`` is not installed.
    """
    from halfcheck.extras import VERDICT, require

    require(VERDICT)
    from spark_trace_analysis.audit.audit_store import audit_store
    from spark_trace_analysis.audit.opened_store import StoreQuestion

    question = StoreQuestion(conf=conf, most_events=_MOST_EVENTS_EXPLAINED)
    is_short, has_stored = trace.stat().st_size <= _LONGEST_TRACE_BYTES, (store / "commitlog").is_dir()
    audit = audit_store(store, release, None, question) if is_short and has_stored else None
    stop = last_stop(trace)
    broken = tuple(
        replace(each, is_by_the_stop=stop is not None and each.event > stop.step)
        for each in broken_properties(trace, conf, release, None if node is None else node.ordered)
    )
    verdict = RunVerdict(
        broken,
        audit,
        has_stored,
        unanswered=() if node is None else tuple(node.answers.unanswered()),
        refused=() if node is None else tuple((*answer, times) for answer, times in node.answers.refused.most_common()),
        in_memory=() if stop is None or audit is None else _keys_of(stop.halves, audit),
        unused_faults=() if node is None else tuple(node.ordered.unused),
    )
    if audit is not None and _FLAG_LOST not in verdict.resembles:
        # Every copy loses the flag; a message that has none loses nothing.
        verdict = replace(verdict, broken=tuple(each for each in broken if each.property_id != "S6"))
    return verdict


@dataclass(slots=True)
class JudgedRun:
    """A run that is judged once, for all who ask: the order to stop, and whoever started the broker."""

    trace: Path
    store: Path
    conf: BrokerConf
    release: str
    _verdict: RunVerdict | None = field(default=None, init=False)

    def verdict(self, node: BrokerNode | None = None) -> RunVerdict:
        """The verdict; the run must be over."""
        if self._verdict is None:
            self._verdict = judge_run(self.trace, self.store, self.conf, self.release, node)
        return self._verdict

    def as_answer(self, node: BrokerNode) -> dict[str, Any]:
        """The verdict as JSON values."""
        return self.verdict(node).to_json()


@dataclass(frozen=True, slots=True)
class UnjudgedRun:
    """A run without a verdict; what shows without one, is said all the same."""

    why: str
    is_unwanted: bool = False
    """Whether nobody wants a verdict."""

    def as_answer(self, node: BrokerNode) -> dict[str, Any]:
        """What :meth:`RunVerdict.to_json` says of it."""
        return {"no_verdict": self.why, "unused_faults": node.ordered.unused}


@dataclass(frozen=True, slots=True)
class LastStop:
    """The stop with which a trace ends: the step of its first row, the half offsets of the op entries that it lost."""

    step: int
    halves: frozenset[int]


def last_stop(trace: Path) -> LastStop | None:
    """The stop with which a trace ends; None if it ends otherwise."""
    waiting: set[int] = set()
    step, last = -1, ""
    for line in read_lines(trace):
        row = parse_json(line)
        last = row["event"]
        if last == "op_buffered":
            waiting.add(row["half"])
        elif last == "op_stored":
            waiting.discard(row["half"])
        elif last == "stop_began":
            step = row["step"]
        elif last == "crashed":
            waiting.clear()
        elif last == "stopped":
            lost, waiting = frozenset(waiting), set()
    return LastStop(step, lost) if last == "stopped" else None


def _keys_of(halves: frozenset[int], audit: Audit) -> tuple[str, ...]:
    return tuple(row.unique_key for row in audit.transactions if halves & set(row.half_offsets))
