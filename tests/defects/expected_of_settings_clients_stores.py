"""What is expected of the scenarios on threads, settings, clients and stores; see `test_in_the_broker`.

A minute has 20 intervals of 3 s and 6 of 10 s; a loop that spins is left after 1,000 passes. Fifteen checks 30 s apart
take 450 s, five of them 60 s apart 300 s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzz.defects.scenario import Fact

EXPECTED: dict[str, dict[str, tuple[Fact, Fact]]] = {
    "A17": {
        "wake-ups in a minute before the commit": (20, 20),
        "op messages": (1, 1),
        "wake-ups behind its batch": (1_001, 20),
        "of them while no time passed": (1_000, 0),
        "seconds in which they came": (3, 60),
    },
    "A18": {
        "wake-ups": (1_000, 6),
        "of them while no time passed": (1_000, 0),
        "seconds in which they came": (0, 60),
        "waits of the next passes, in ms": ((10_000, 0), (10_000, 10_000)),
    },
    "A20": {
        "transactionCheckInterval, in s": (30, 60),
        "a round may last, in s": (60, 60),
        "it lasted, in s": ((52,) * 3, (52,) * 3),
        "from a check of a half to the next, in s": ((30 + 52,) * 2, (60 + 52,) * 2),
    },
    "A30": {
        "a half of four seconds in a round": ("put_back_for_check", "ended_at_young_half"),
        "checks": (5, 6),
        "minute in which it was given up": (5, None),
        "deliveries": (0, 1),
    },
    "B43": {
        "the producer is told": (None, "the max transaction recovery time of message is too large, max is 450"),
        "seconds that all checks take": (15 * 30, 15 * 30),
        "given up after so many seconds": (450, None),
        "checks": (0, 0),
    },
    "B56": {
        "TRAN_PREPARED_QUEUE_OFFSET in the delivered message": ("2", "2"),
        "the half that was sent on, and the one that is settled": ((1, 2), (1, 2)),
        "answer to the commit of that": (0, 0),
        "the half that was sent on in the first round": ("prepared_half_settled", "put_back_for_immunity"),
        "checks of it": (0, 8),
        "deliveries of the settled one": (2, 1),
    },
    "B57": {
        "answer": (0, 16),
        "checks of settled halves": (3, 0),
        "deliveries of each": ((2, 2, 2), (1, 1, 1)),
        "checks of an open half in 3 rounds": (0, 3),
        "half messages": (3 + 3 + 1, 3 + 1 + 3),
        "half offset": (7, 6),
    },
    "B58": {
        "halves in the log when it starts": (1, 1),
        "end of the half queue after each start": ((1, 3), (1, 2)),
        "offset of the new half in its queue": (1, 1),
        "its place is that of the second that is gone": (1, 1),
        "answer to its commit": (0, 0),
        "checks of it": (1, 0),
        "deliveries": (2, 1),
    },
}
