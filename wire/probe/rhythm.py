"""The rhythm of the check service's rounds: every interval, from a moment on that the probe has seen.

A round shows when it moves the half offset. The service waits for its interval behind each round
(``TransactionalMessageCheckService#run``), so that rounds fall behind by what they take; a moment seen lately is best.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.format.system_topics import HALF_TOPIC
from wire.client.queries import check_offset
from wire.client.transactions import ROLLBACK

if TYPE_CHECKING:
    from wire.probe.producers import ProbeProducers
    from wire.probe.view import BrokerView

_A_LOOK_S: Final = 0.02


@dataclass(slots=True)
class Rhythm:
    """The rounds of a broker.

    Attributes
    ----------
    interval_s
        ``transactionCheckInterval``.
    seen
        When a round was seen, by the machine's steady clock in seconds; None if none was.
    """

    interval_s: float
    seen: float | None = None

    def first_from(self, moment: float) -> float:
        """The first round at a moment or behind it; the moment itself where none was seen."""
        if self.seen is None:
            return moment
        return self.seen + max(0, math.ceil((moment - self.seen) / self.interval_s)) * self.interval_s

    def watch(self, view: BrokerView, seconds: float) -> bool:
        """Look until both queues are settled, and keep the moment of the last round that moved the half offset.

        Raises
        ------
        NoAnswerError
            The broker does not answer.
        """
        end, before = time.monotonic() + seconds, check_offset(view.channel, HALF_TOPIC)
        while time.monotonic() < end:
            asked, now = time.monotonic(), check_offset(view.channel, HALF_TOPIC)
            if now != before:
                self.seen, before = asked, now
            if view.is_quiet():
                return True
            time.sleep(_A_LOOK_S)
        return False

    def feel(self, view: BrokerView, producers: ProbeProducers) -> bool:
        """Learn it by a half that is rolled back at once; False if no round came to it in four intervals.

        Raises
        ------
        NoAnswerError
            The broker does not answer.
        """
        producers.send(PILOT, None, 0)
        pilot = producers.halves.pop(PILOT).name
        producers.end(pilot, ROLLBACK, answers_check=False)
        producers.ends.pop()
        view.await_half(pilot.queue_offset)
        return self.watch(view, 4 * self.interval_s + 10)


PILOT: Final = -1
"""The transaction that only shows when rounds come."""
