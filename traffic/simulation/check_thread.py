"""The check service's thread: its rounds, pass by pass, and what each pass means to a transaction.

``TransactionalMessageCheckService`` and ``TransactionalMessageServiceImpl#check``; the rules are the broker's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC
from traffic.simulation.causes import ON_ITS_WAY, RUNNING
from traffic.simulation.ledger import TrackedHalf, TrackedTransaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController
    from reference.broker.transaction.check_outcome import CheckStep
    from reference.broker.transaction.check_round import CheckRound
    from traffic.simulation.broker_host import BrokerHost
    from traffic.simulation.requests import BrokerRequests

_PASSED: Final = (
    CheckBranch.PREPARED_HALF_SETTLED,
    CheckBranch.KNOWN_AS_SETTLED,
    CheckBranch.COPY_AHEAD,
    CheckBranch.OP_TO_COME,
    CheckBranch.PASSED_OVER,
)
_FAILED: Final = (CheckBranch.PUT_BACK_FAILED, CheckBranch.DISCARD_FAILED, CheckBranch.ESCAPE_FAILED)
_PUT_BACK: Final = (CheckBranch.PUT_BACK_FOR_CHECK, CheckBranch.PUT_BACK_UNASKED, CheckBranch.PUT_BACK_FOR_IMMUNITY)
_TICK_MS: Final = 1.0
"""What nothing changes before the broker's clock does is tried again then."""


class CheckServiceThread:
    """The thread.

    Attributes
    ----------
    on_check
        Called for each check that is sent, with its transaction and the copy that it names.
    """

    def __init__(self, host: BrokerHost, requests: BrokerRequests) -> None:
        self.on_check: Callable[[TrackedTransaction, TrackedHalf], None] = lambda *_: None
        self._host = host
        self._requests = requests
        self._simulation = host.run
        self._interval = host.settings.transaction_check_interval_ms
        host.finish_round = self._finish_round

    def start(self, _broker: BrokerController) -> None:
        """See :class:`traffic.simulation.broker_host.HostedThread`."""
        self._host.put(self._interval, self._begin)

    def _begin(self) -> None:
        broker = self._host.broker
        if broker is None or self._host.is_stopping:
            return
        began = broker.begin_check_round()
        if began is None:
            self._put_next(broker)
            return
        counts = self._simulation.counts
        counts.rounds += 1
        if self._simulation.is_arriving:
            end = broker.message_store.get_max_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID)
            counts.half_queue_depth.add(max(0, end - began.half_offset))
        self._go_on(began)

    def _go_on(self, check_round: CheckRound) -> None:
        if self._host.is_stopping:
            return  # whoever stops the process takes the passes
        wait = self._take_passes(check_round)
        if not check_round.is_over:
            self._host.put(wait, lambda: self._go_on(check_round))
        elif self._host.broker is not None:
            self._put_next(self._host.broker)

    def _put_next(self, broker: BrokerController) -> None:
        waited = broker.clock.elapsed - broker.check_service.waits_since
        self._host.put(max(_TICK_MS, self._interval - waited), self._begin)

    def _finish_round(self) -> bool:
        broker = self._host.broker
        running = None if broker is None else broker.check_service.round
        if running is not None:
            self._take_passes(running)
        return running is None or running.is_over

    def _take_passes(self, check_round: CheckRound) -> float:
        """Take passes of the loop until time has to pass; gives how much, in milliseconds."""
        broker, pass_ms = self._host.broker, self._simulation.workload.pass_ms
        if broker is None:
            return _TICK_MS
        ledger = self._simulation.ledger
        step_on, passed, half_at, requests = check_round.step, ledger.passed, ledger.halves.get, broker.check_requests
        while not check_round.is_over:
            step = step_on()
            branch = step.branch
            if branch is CheckBranch.SETTLED:
                half = half_at(step.half)
                if half is not None:
                    passed(half)
            elif branch is CheckBranch.ASLEEP:
                return max(_TICK_MS, check_round.wakes_at - broker.clock.elapsed)
            elif branch is CheckBranch.OPS_PULLED:
                if check_round.op_remove_map.pull_result.found is None:
                    return max(_TICK_MS, check_round.wakes_at - broker.clock.elapsed)
            elif branch in _FAILED:
                return _TICK_MS
            elif not branch.is_end:
                self._look_at(step, check_round)
                requests.clear()
            if pass_ms:
                return pass_ms
        return 0.0

    def _look_at(self, step: CheckStep, check_round: CheckRound) -> None:
        half = self._simulation.ledger.halves.get(step.half)
        if half is None:
            return
        if step.branch in _PUT_BACK:
            self._put_back(half, step, check_round)
        elif step.branch is CheckBranch.DISCARDED:
            self._discarded(half, step)
        elif step.branch in _PASSED:
            self._simulation.ledger.passed(half)

    def _put_back(self, half: TrackedHalf, step: CheckStep, check_round: CheckRound) -> None:
        copied = step.record
        if copied is None:
            return
        transaction, counts, now = half.transaction, self._simulation.counts, self._simulation.events.now
        for_immunity = step.branch is CheckBranch.PUT_BACK_FOR_IMMUNITY
        cause = self._host.causes.of_put_back(half, check_round, now, for_immunity=for_immunity)
        if not half.copies:
            half.left_for_immunity = for_immunity
        half.copies += 1
        copy = TrackedHalf(transaction, copied.queue_offset, copied.physical_offset, half, for_immunity, cause)
        self._simulation.ledger.store(copy)
        self._requests.count_record(transaction)
        if step.branch is CheckBranch.PUT_BACK_FOR_CHECK:
            copy.is_asked = True
            counts.checks += 1
            self._note_check(transaction, cause, now)
            self.on_check(transaction, copy)
        elif for_immunity:
            counts.put_back_for_immunity += 1
        else:
            copy.is_of_a_stop = self._host.is_stopping
            counts.unasked += 1
        self._simulation.ledger.passed(half)

    def _note_check(self, transaction: TrackedTransaction, cause: str, now: float) -> None:
        """Whether a check is needless: of a half that is settled, or whose producer still works on it."""
        counts = self._simulation.counts
        if transaction.settled_at >= 0:
            counts.befell("checked_needlessly", cause or self._host.causes.fork)
        elif transaction.is_running(now):
            counts.befell("checked_needlessly", RUNNING)
        elif transaction.end_arrives_at >= now:
            counts.befell("checked_needlessly", ON_ITS_WAY)

    def _discarded(self, half: TrackedHalf, step: CheckStep) -> None:
        transaction = half.transaction
        if not transaction.is_discarded:
            has_checks_left = (step.check_times or 0) < self._host.settings.transaction_check_max
            cause = self._host.causes.of_discard(half, is_too_old=has_checks_left)
            self._simulation.counts.befell("discarded", cause)
        transaction.is_discarded = True
        if step.record is None:
            transaction.lost_by = transaction.lost_by or ("B31" if self._host.switches.keeps_discarded else "A31")
        else:
            self._requests.count_record(transaction)
        self._requests.settled(transaction)
        self._simulation.ledger.passed(half)
