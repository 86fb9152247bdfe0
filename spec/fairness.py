"""Who goes on: promises about the steps of endless runs, by name. Faults are promised by nobody.

Without them every run may stop at any time, and nothing is ever certain to happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spec.chapters import (
    broken_round,
    broker,
    check_round,
    discarding,
    end_transaction,
    escape,
    op_batch,
    producer,
    proxy,
    putting_back,
    retention,
    shutdown,
)
from spec.language import Fairness, actions_of, declared_action

if TYPE_CHECKING:
    from collections.abc import Callable

    from spec.language import Action


def _those(*functions: Callable[..., Any]) -> tuple[Action, ...]:
    return tuple(declared_action(function) for function in functions)


_OF_A_ROUND = tuple(
    action
    for action in actions_of(check_round, putting_back, discarding, broken_round)
    if action.function is not broken_round.corrupt_op
) + _those(
    escape.let_half_escape,
    escape.let_half_escape_unclearly,
    escape.give_half_up,
    escape.pull_more_ops_before_escape,
    retention.pass_half_that_is_gone,
    retention.jump_to_what_is_left,
    retention.end_round_below_what_is_left,
)

FAIRNESS = {
    promise.name: promise
    for promise in (
        Fairness("clock", _those(broker.tick), False, "time goes on"),
        Fairness("check_service", _OF_A_ROUND, False, "the check service begins rounds and goes on in them"),
        Fairness("op_batch", actions_of(op_batch), False, "the op batch thread wakes up"),
        Fairness("saving", _those(broker.persist_offsets), False, "consumer offsets are saved"),
        Fairness("end_delivery", actions_of(end_transaction), False, "an END_TRANSACTION under way is handled"),
        Fairness(
            "check_answers",
            _those(
                producer.answer_check,
                producer.answer_check_too_early,
                proxy.answer_check_through_proxy,
                proxy.answer_too_early_through_proxy,
                proxy.answer_unknown_to_proxy,
            ),
            False,
            "a check request under way is answered",
        ),
        Fairness(
            "local_transactions",
            _those(
                producer.commit_locally,
                producer.roll_back_locally,
                producer.leave_it_unknown,
                producer.commit_what_is_gone,
                proxy.commit_through_proxy,
                proxy.roll_back_through_proxy,
                proxy.commit_unknown_to_proxy,
                proxy.roll_back_unknown_to_proxy,
            ),
            False,
            "a local transaction ends, if only as unknown",
        ),
        Fairness("connections", _those(producer.connect_again), False, "a producer comes back"),
        Fairness(
            "roles",
            _those(escape.become_master, escape.bring_master_back, escape.bring_master_back_with_its_own_offsets),
            False,
            "a master comes back",
        ),
        Fairness("stopping", _those(shutdown.stop), False, "a shutdown comes to its end"),
        Fairness(
            "put_backs",
            actions_of(putting_back),
            True,
            "a copy that is to be stored again and again is stored at last",
        ),
    )
}
"""By their names. Only `put_backs` is strong: a disk that is full now and then."""

TROUBLE = (
    "crashed",
    "stopped",
    "power_lost",
    "producer_gone",
    "role_changed",
    "clock_stepped_back",
    "offsets_regressed",
    "files_deleted",
    "log_truncated",
)
"""Events that come to an end at some time: as long as a broker dies again and again, nothing is certain."""

EVERYBODY = tuple(FAIRNESS)
AT_ONE_MOMENT = tuple(name for name in FAIRNESS if name != "clock")
"""All that goes on while the clock stands still."""
