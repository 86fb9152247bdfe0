"""Pulls that found nothing and wait for the next message of their queue (``PullRequestHoldService``)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.simulation.scheduler import Steps, Until
from wire.node.schedule_thread import written_behind

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController
    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand
    from wire.requests.request import Request

Queue = tuple[str, int]


@dataclass(slots=True, eq=False)
class HeldPull:
    """One of them."""

    request: Request
    offset: int
    again: Callable[[], RemotingCommand | None]
    """Pulls once more; None if there is still nothing."""
    give_up: Callable[[], RemotingCommand]
    """Pulls for the last time."""
    timer: asyncio.TimerHandle | None = None


class HeldPulls:
    """All of one broker, by queue.

    How long one waits is in real time, as the client's own patience is.
    """

    def __init__(self, node: BrokerNode) -> None:
        self._node = node
        self._by_queue: dict[Queue, list[HeldPull]] = {}

    @property
    def count(self) -> int:
        """How many wait."""
        return sum(map(len, self._by_queue.values()))

    def hold(self, queue: Queue, pull: HeldPull, timeout_ms: int) -> None:
        """Let a pull wait (``#suspendPullRequest``)."""
        loop = asyncio.get_running_loop()
        pull.timer = loop.call_later(timeout_ms / 1_000, self._time_out, queue, pull)
        self._by_queue.setdefault(queue, []).append(pull)

    def wake(self, broker: BrokerController) -> Steps[None]:
        """A thread of the broker that answers those whose queue has grown (``#notifyMessageArriving``)."""
        store = broker.message_store
        while True:
            seen = store.max_phy_offset
            yield Until(written_behind(store, seen))
            self.notify()

    def notify(self) -> None:
        """Answer what can be answered now."""
        store = self._node.broker.message_store
        for queue, pulls in list(self._by_queue.items()):
            end = store.get_max_offset_in_queue(*queue)
            for pull in [pull for pull in pulls if pull.offset < end]:
                self._answer(queue, pull, pull.again())

    def forget_connection(self, address: str) -> None:
        """A connection ended, and nobody waits for its pulls any more."""
        for queue, pulls in list(self._by_queue.items()):
            for pull in [pull for pull in pulls if pull.request.connection.address == address]:
                self._remove(queue, pull)

    def forget(self) -> None:
        """The process is gone."""
        for queue, pulls in list(self._by_queue.items()):
            for pull in list(pulls):
                self._remove(queue, pull)

    def _time_out(self, queue: Queue, pull: HeldPull) -> None:
        if self._node.is_up:
            self._answer(queue, pull, pull.give_up())

    def _answer(self, queue: Queue, pull: HeldPull, answer: RemotingCommand | None) -> None:
        if answer is not None:
            self._remove(queue, pull)
            pull.request.connection.send(answer)

    def _remove(self, queue: Queue, pull: HeldPull) -> None:
        if pull.timer is not None:
            pull.timer.cancel()
        pulls = self._by_queue[queue]
        pulls.remove(pull)
        if not pulls:
            del self._by_queue[queue]
