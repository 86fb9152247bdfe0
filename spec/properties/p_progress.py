"""P1 to P9, progress: what must happen in the end, in every run of any length in which everybody goes on.

What speaks of one transaction speaks of the only one that there is: when its place is free again, all is over. Crashes
and the like may be many, but come to an end: until then nothing is certain.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.fairness import AT_ONE_MOMENT, EVERYBODY, TROUBLE
from spec.ghosts import has_an_outcome, is_settled
from spec.language import each, infinitely_often, leads_to
from spec.state import Local, RolledBack, State


def is_there(s: State, c: Constants, t: int) -> bool:
    """Its half was stored, and not everything about it is over and forgotten."""
    return s.transaction[t].local != Local.NOT_SENT


def is_committed(s: State, c: Constants, t: int) -> bool:
    """Its producer knows it as committed."""
    return s.transaction[t].local == Local.COMMIT


def is_rolled_back(s: State, c: Constants, t: int) -> bool:
    """The broker has acknowledged a rollback of it."""
    return s.transaction[t].rolled_back != RolledBack.NO


def is_delivered(s: State, c: Constants, t: int) -> bool:
    """Consumers can see it."""
    return s.transaction[t].deliveries > 0


@leads_to(
    "P1", clause="settled", given=is_there, under=EVERYBODY, once=TROUBLE, resembles=("A31",), t=each("transactions")
)
def it_is_settled(s: State, c: Constants, t: int) -> bool:
    """A transaction whose half is stored is at last delivered, rolled back, put aside or sent to another broker."""
    return not is_there(s, c, t) or is_settled(s, t)


@leads_to("P2", clause="committed", given=is_committed, under=EVERYBODY, once=TROUBLE, t=each("transactions"))
def it_is_delivered_or_put_aside(s: State, c: Constants, t: int) -> bool:
    """A transaction that its producer has committed is at last delivered, or put aside."""
    return not is_there(s, c, t) or has_an_outcome(s, t)


@leads_to("P3", clause="rolled_back", given=is_rolled_back, under=EVERYBODY, once=TROUBLE, t=each("transactions"))
def it_is_asked_about_no_more(s: State, c: Constants, t: int) -> bool:
    """A transaction that was rolled back is at last behind the half offset, and no check for it is under way."""
    return is_behind(s, c, t) and not any(
        s.half[h].check_in_flight and s.half[h].transaction == t for h in range(c.half_slots)
    )


@leads_to("P4", clause="passed", given=is_delivered, under=EVERYBODY, once=TROUBLE, t=each("transactions"))
def it_is_passed(s: State, c: Constants, t: int) -> bool:
    """All halves of a transaction that was delivered are at last behind the half offset."""
    return is_behind(s, c, t)


def is_behind(s: State, c: Constants, t: int) -> bool:
    """All its halves are behind the half offset."""
    return not any(
        h < s.half_length and h >= s.offsets.half and s.half[h].transaction == t for h in range(c.half_slots)
    )


@infinitely_often("P5", clause="rounds_end", under=EVERYBODY, once=TROUBLE)
def rounds_end(s: State, c: Constants) -> bool:
    """Every round of the check service ends."""
    return not s.round.running


@infinitely_often("P5", clause="at_one_moment", under=AT_ONE_MOMENT, once=(*TROUBLE, "time_passed"), resembles=("A19",))
def rounds_end_at_any_moment(s: State, c: Constants) -> bool:
    """Every round of the check service ends also while the clock stands still, so that it never spins."""
    return not s.round.running


@infinitely_often("P6", clause="batch", under=EVERYBODY, once=TROUBLE)
def the_batch_is_written(s: State, c: Constants) -> bool:
    """What waits in the op batch is at last written."""
    return s.batch.names.is_empty()


@infinitely_often("P7", clause="saved", under=EVERYBODY, once=TROUBLE)
def offsets_are_saved(s: State, c: Constants) -> bool:
    """Consumer offsets are again and again those in their file."""
    return s.saved.half == s.offsets.half and s.saved.op == s.offsets.op


@infinitely_often(
    "P8", clause="halves", under=EVERYBODY, once=(*TROUBLE, "half_stored"), resembles=("A07", "B07", "B17", "B29")
)
def the_half_offset_reaches_the_end(s: State, c: Constants) -> bool:
    """When nobody sends any more, the half offset reaches the end of its queue again and again."""
    return s.offsets.half >= s.half_length


@infinitely_often("P9", clause="ops", under=EVERYBODY, once=(*TROUBLE, "half_stored"), resembles=("B17",))
def the_op_offset_reaches_the_end(s: State, c: Constants) -> bool:
    """When nobody sends any more, the op offset reaches the end of its queue again and again."""
    return s.offsets.op >= s.op_length
