"""rocketmq-rust, led through transactions and audited at three moments over the network and offline."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from real_brokers.audit.audited_run import AuditedMoment, seen_of
from real_brokers.errors import RealBrokerError
from real_brokers.rocketmq_rust.broker import RustBroker
from real_brokers.rocketmq_rust.crates import RELEASE, built
from real_brokers.rocketmq_rust.stage import Stage
from reference.format.properties import IMMUNITY_SECONDS
from wire.client.transactions import COMMIT, ROLLBACK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfcheck.running_broker import BrokerAudit
    from real_brokers.audit.seen import SeenRun

RUST: Final = "rocketmq-rust"
"""As a command line calls it."""
OUTCOMES: Final = "outcomes"
RUST_RUN: Final = f"{RUST} {RELEASE} {OUTCOMES}"
"""The name of what was seen."""

_SETTINGS: Final = {
    "transactionTimeOut": "3000",
    "transactionCheckInterval": "5000",
    "transactionCheckMax": "4",
}
_LONGEST_S: Final = 60.0


def rust_run() -> SeenRun:
    """Build it if need be, lead it through commits, rollbacks, checks and silence, and audit it.

    A and B are settled at once, C and D at their first check, E never, F is immune for longer than a round, G is
    committed twice.
    """
    with RustBroker(built(), _SETTINGS) as broker:
        stage = Stage(broker.address, _LONGEST_S)
        try:
            taken = _led(broker, stage)
        finally:
            stage.close()
        seen = seen_of(f"{RUST} {RELEASE}", OUTCOMES, broker, taken)
        return replace(seen, said=tuple(_said(taken[-1].found)))


def _said(found: BrokerAudit) -> Iterator[str]:
    """What it is taken for, and what it does not tell."""
    audit = found.audit
    yield f"release: {found.copy.release or 'none is named'}; its records: of {audit.version or 'an unknown version'}"
    yield f"trace: {audit.trace.sentence()}"
    yield f"pieces of damage: {audit.damage}"
    yield f"settings that it does not tell: {', '.join(found.untold) or 'none'}"


def _led(broker: RustBroker, stage: Stage) -> list[AuditedMoment]:
    stage.connect()
    for letter in "ABCDEFG":
        stage.send(letter, {IMMUNITY_SECONDS: "12"} if letter == "F" else None)
    for letter, outcome in (("A", COMMIT), ("B", ROLLBACK), ("G", COMMIT), ("G", COMMIT)):
        stage.end(letter, outcome)
    time.sleep(1)  # the op messages of the batch
    taken = [AuditedMoment.of(broker, "moment 1")]
    for letter, outcome in (("C", COMMIT), ("D", ROLLBACK)):
        _require(f"a check of {letter}", has_come=stage.await_check(letter) == "a check")
        stage.end(letter, outcome, answers_check=True)
    time.sleep(1)
    taken.append(AuditedMoment.of(broker, "moment 2"))
    _require("a second check of E", has_come=stage.await_check("E", 2) == "a check")
    taken.append(AuditedMoment.of(broker, "moment 3"))
    _require("the discard of E", has_come=stage.await_that(lambda: bool(stage.discarded("E"))))
    return [*taken, AuditedMoment.last(broker)]


def _require(what: str, *, has_come: bool) -> None:
    if not has_come:
        message = f"rocketmq-rust: {what} does not come within {_LONGEST_S:.0f} s"
        raise RealBrokerError(message)
