"""The output of ``halfcheck broker``: where it is, and in the end what the run broke."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from document.console import show, wide_console
from document.parts import List, Paragraph, Part
from document.words import counted, first_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from halfcheck.run_verdict import RunVerdict, UnjudgedRun
    from wire.node.answers import ChecksOfClient
    from wire.node.broker_node import BrokerNode
    from wire.service import ServiceAddresses


def print_start(addresses: ServiceAddresses, name: str, store: Path | None, *, as_json: bool) -> None:
    """Print what a client, and whoever controls the broker, must know; at once, also into a pipe."""
    if as_json:
        content: dict[str, object] = {"address": addresses.address}
        content |= {"control": addresses.control, "token": addresses.token}
        if addresses.grpc:
            content |= {"grpc_address": addresses.grpc[0], "grpc_addresses": addresses.grpc}
        print(json.dumps(content), flush=True)
        return
    print(f"broker {name}, and its name server: {addresses.address}")
    if addresses.grpc:
        print(f"for gRPC clients: {', '.join(addresses.grpc)}")
    print(f"control: {addresses.control} token {addresses.token}")
    print(f"store: {store or 'temporary'}; stop with Ctrl-C", flush=True)


def print_verdict(verdict: RunVerdict, trace: Path | None, *, as_json: bool, stderr: bool) -> None:
    """Print what the run broke, on stderr where stdout is another's."""
    if as_json:
        print(json.dumps(verdict.to_json()), file=sys.stderr if stderr else sys.stdout, flush=True)
    else:
        show(verdict_on(verdict, trace), wide_console(stderr=stderr))


def print_unjudged(run: UnjudgedRun, node: BrokerNode, *, as_json: bool, stderr: bool) -> None:
    """Print what shows of a run without a verdict, and on stderr why there is none."""
    if as_json:
        print(json.dumps(run.as_answer(node)), file=sys.stderr if stderr else sys.stdout, flush=True)
        return
    if not run.is_unwanted:
        print(f"halfcheck: no verdict: {run.why}", file=sys.stderr)
    show(_unused(node.ordered.unused), wide_console(stderr=stderr))


def _unused(faults: Iterable[dict[str, Any]]) -> Iterator[Part]:
    for fault in faults:
        yield Paragraph(fault["says"])
        yield List(("A test that ordered it shows nothing; see that its key is right, or do not order it.",))


def verdict_on(verdict: RunVerdict, trace: Path | None) -> Iterator[Part]:
    """Which guarantees the run broke, and which defects its transactions resemble."""
    yield from _unused(verdict.unused_faults)
    for broken in verdict.broken:
        by_the_stop = ", only as the broker was stopped" if broken.is_by_the_stop else ""
        was_ordered = f", only by what was ordered ({first_of(broken.ordered)})" if broken.ordered else ""
        how = f"{by_the_stop}{was_ordered}"
        yield Paragraph(f"{broken.property_id} broken at event {broken.event}{how}: {broken.sentence}")
    for defect, keys in verdict.resembles.items():
        yield Paragraph(f"{counted(len(keys), 'transaction')} like {defect}: {first_of(keys)}")
        yield List((f"halfcheck defects {defect} shows it.",))
    if not verdict.broken:
        yield Paragraph("no guarantee was broken that a trace shows")
    if verdict.in_memory:
        settled = f"{counted(len(verdict.in_memory), 'transaction')} settled in memory only as the broker was stopped"
        yield Paragraph(f"{settled}: {first_of(verdict.in_memory)}")
        yield List(("Let transactionOpBatchInterval pass before the stop, unless that is what you test.",))
    for code, remark, times in verdict.refused:
        ends = counted(times, "END_TRANSACTION")
        yield Paragraph(f"{ends} {'was' if times == 1 else 'were'} refused with code {code}: {remark or 'no remark'}")
    for checks in verdict.unanswered:
        yield from _unanswered(checks)
    if verdict.audit is not None:
        counts = ", ".join(f"{count} {state}" for state, count in verdict.audit.counts.items() if count) or "none"
        yield Paragraph(f"{counted(verdict.audit.total, 'transaction')}: {counts}")
        for state, rows in verdict.left.items():
            named = [f"{row.unique_key} (KEYS {row.keys})" if row.keys else row.unique_key for row in rows]
            yield Paragraph(f"{state}: {first_of(named)}")
    else:
        long = "the run was long; halfcheck audit STORE_DIR says what became of each transaction"
        yield Paragraph(long if verdict.has_stored else "nothing was stored")
    if trace is not None:
        yield Paragraph(f"trace: {trace}")


def _unanswered(checks: ChecksOfClient) -> Iterator[Part]:
    """How many checks of a group reached a client in vain, and what may be the reason."""
    left = checks.unanswered
    how_many = "none was answered" if left == checks.delivered else f"{left} of them without an answer"
    reached = f"{counted(checks.delivered, 'check')} of {checks.group} reached client {checks.client}"
    named = f": {first_of(checks.keys)}" if checks.keys else ""
    yield Paragraph(f"{reached}, {how_many}{named}")
    if left < checks.delivered:
        return
    if checks.other_groups:
        others = ", ".join(checks.other_groups)
        yield List((f"It is a producer of {others}, too; rocketmq-client-go answers for its first group only.",))
    else:
        yield List(("See that its producer has a listener for checks, and that it returns.",))
