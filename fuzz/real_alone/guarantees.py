"""The guarantees as far as producers, consumers and the log show them: what of a broker that was seen breaks which.

A guarantee has no clauses here: nobody asks a broker for the cause. Which clause a schedule breaks, the specification
says of the release; `spec/properties/` has the guarantees as claims about its state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from spec.state import End, Local

if TYPE_CHECKING:
    from fuzz.real_alone.seen import SeenBroker, SeenTransaction
    from spec.constants import Constants


@dataclass(frozen=True, slots=True)
class SeenBroken:
    """A guarantee that a broker was seen to break."""

    identifier: str
    """Of the property: ``S1``."""
    transaction: int
    what: str
    """In words, for people."""


_OfOne = Callable[["SeenTransaction", "SeenBroker", "Constants"], str]


def _delivered_twice(of: SeenTransaction, _: SeenBroker, __: Constants) -> str:
    places = ", ".join(str(record.physical_offset) for _, record, _ in of.delivered)
    return f"delivered {len(of.delivered)} times, at {places} in the commit log" if len(of.delivered) > 1 else ""


def _delivered_and_rolled_back(of: SeenTransaction, _: SeenBroker, __: Constants) -> str:
    if not of.delivered:
        return ""
    if any(end.says is End.ROLLBACK for end in of.acknowledged):
        return "delivered, and a rollback was answered SUCCESS"
    if of.discarded_at and of.discarded_at[0] < of.delivered[0][0]:
        return "delivered although it lay in the discard topic"
    return ""


def _not_decided(of: SeenTransaction, _: SeenBroker, __: Constants) -> str:
    wrong = any(local is not Local.COMMIT for _, _, local in of.delivered)
    return "delivered although its producer had not committed it" if wrong else ""


def _unasked_delivery(of: SeenTransaction, _: SeenBroker, __: Constants) -> str:
    return "delivered without a commit" if len(of.delivered) > of.commits_begun else ""


def _other_content(of: SeenTransaction, _: SeenBroker, __: Constants) -> str:
    sent = of.request
    wrong = any((record.body, record.flag) != (sent.body, sent.flag) for _, record, _ in of.delivered)
    return "delivered with another body or flag than it was sent with" if wrong else ""


def _checked_though_settled(of: SeenTransaction, _: SeenBroker, __: Constants) -> str:
    first = next(iter(of.acknowledged), None)
    if first is None or not first.is_in_time or any(at < first.at for at in of.checked_at):
        return ""
    late = any(at > first.at for at in of.checked_at)
    return "its producer is checked although its END_TRANSACTION was answered SUCCESS in time" if late else ""


def _op_lost(of: SeenTransaction, seen: SeenBroker, _: Constants) -> str:
    named = set().union(*seen.op_names.values())
    waiting = {int(name) for name in seen.batch.rpartition(" ")[2].split(",") if name.isdigit()}
    lost = [end.half for end in of.acknowledged if end.half not in named | waiting]
    return f"SUCCESS was answered for half {lost[0]}, and no op message names it" if lost else ""


def _lost_for_good(of: SeenTransaction, seen: SeenBroker, _: Constants) -> str:
    if of.is_resolved or of.local in (Local.EXECUTING, Local.NEVER_RUN) or not of.halves:
        return ""
    if all(half.queue_offset < seen.half_offset for half in of.halves):
        return "nothing came of it, and the half offset has passed all its halves: no round will ask for it"
    return ""


def _discarded_too_early(of: SeenTransaction, _: SeenBroker, constants: Constants) -> str:
    if not of.discarded_at:
        return ""
    checks = sum(at < of.discarded_at[0] for at in of.checked_at)
    return f"discarded after {checks} of {constants.check_max} checks" if checks < constants.check_max else ""


def _held_up(of: SeenTransaction, seen: SeenBroker, _: Constants) -> str:
    if of.is_resolved or of.checked_at or not of.halves or of.local is Local.NEVER_RUN:
        return ""
    is_ahead = any(half.queue_offset >= seen.half_offset for half in of.halves)
    return "no round asked for it, though one after the other came" if is_ahead else ""


def _commit_refused(of: SeenTransaction, _: SeenBroker, __: Constants) -> str:
    own = [end for end in of.ends if end.is_own and end.says is End.COMMIT]
    refused = next((end.code for end in own if end.code != "0"), "")
    if refused:
        return f"its commit was answered {refused}"
    return "its commit was answered SUCCESS, and it was never delivered" if own and not of.delivered else ""


def _too_many_halves(of: SeenTransaction, _: SeenBroker, constants: Constants) -> str:
    most = constants.check_max + 1
    return f"{len(of.halves)} halves of it were stored, {most} at most are wanted" if len(of.halves) > most else ""


OF_ONE: Final[dict[str, _OfOne]] = {
    "S1": _delivered_twice,
    "S2": _delivered_and_rolled_back,
    "S3": _not_decided,
    "S5": _unasked_delivery,
    "S6": _other_content,
    "S9": _checked_though_settled,
    "S10": _op_lost,
    "L1": _lost_for_good,
    "L2": _discarded_too_early,
    "L3": _held_up,
    "L5": _commit_refused,
    "R1": _too_many_halves,
}
"""By the property: what of one transaction breaks it, in words."""

IN_THE_END: Final = frozenset({"S10", "L1", "L3", "L4"})
"""Those that are judged when a broker has had all the rounds that it may need."""


def broken(seen: SeenBroker, constants: Constants) -> Iterator[SeenBroken]:
    """All guarantees that a broker was seen to break, a transaction at a time."""
    for number, of in sorted(seen.transactions.items()):
        for identifier, says in OF_ONE.items():
            what = says(of, seen, constants) if seen.has_settled or identifier not in IN_THE_END else ""
            if what:
                yield SeenBroken(identifier, number, f"transaction {number}: {what}")
    if seen.has_settled and max(seen.op_offset, 0) < seen.op_end and max(seen.half_offset, 0) >= seen.half_end:
        left = f"the op offset stays at {seen.op_offset}, the op queue ends at {seen.op_end}"
        yield SeenBroken("L4", -1, f"all halves are passed, and {left}")
    if seen.spun:
        yield SeenBroken("R1", -1, "a round did not end within its time limit")
