"""A half of which nothing more is asked: after `transactionCheckMax` checks, or too old, it is moved away.

RocketMQ: TransactionalMessageServiceImpl#check, the branch of #needDiscard and #needSkip.
"""

from __future__ import annotations

from spec.check_loop import stands_on_a_half_to_check, stands_on_an_open_half, stands_on_the_masters_half
from spec.constants import Constants
from spec.ghosts import remember_discard
from spec.half import can_be_copied, can_be_decoded, has_no_checks_left, is_immune, is_young, must_be_discarded
from spec.half_queue import half_read
from spec.language import action, assume, require
from spec.observation import READ
from spec.roles import is_master
from spec.rounds import is_fresh
from spec.state import Left, State


@action(event="half_discarded", place=310, shows=READ)
def discard_half(s: State, c: Constants) -> None:
    """A half without checks left, or too old, is moved away before the rest of the op messages is read (A10).

    RocketMQ: TransactionalMessageServiceImpl#needDiscard, #needSkip,
    DefaultTransactionalMessageCheckListener#resolveDiscardMsg. Up to 4.5.1 only a log line remains of it (A31).
    """
    stands_on_the_masters_half(s, c)
    require(must_be_discarded(s, c, half_read(s)), "it has no checks left")
    discard(s, c, half_read(s))


@action(event="half_discarded", place=320, shows=READ)
def discard_half_unrecorded(s: State, c: Constants) -> None:
    """The record in the discard topic is not stored, and the half is passed all the same (B31).

    RocketMQ: DefaultTransactionalMessageCheckListener#resolveDiscardMsg logs what went wrong.
    """
    stands_on_the_masters_half(s, c)
    require(must_be_discarded(s, c, half_read(s)), "it has no checks left")
    require(c.keeps_discarded and not c.retries_discards, "nobody looks whether its record was stored")
    assume(c.put_failure, "what is discarded is stored")
    remember_discard(s, c, half_read(s), Left.DROPPED)
    s.round.cursor += 1


@action(event="half_discarded", place=330, shows=READ)
def discard_instead_of_check(s: State, c: Constants) -> None:
    """A half without checks left is discarded where it would be checked: all op messages were read. A repair (A10)."""
    stands_on_a_half_to_check(s, c)
    require(has_no_checks_left(s, c, half_read(s)), "it has no checks left")
    discard(s, c, half_read(s))


@action(event="half_discarded", place=340, shows=READ)
def discard_what_cannot_be_copied(s: State, c: Constants) -> None:
    """A half that can be neither copied nor read goes to the discard topic as it is. A repair (A07, B07)."""
    stands_on_an_open_half(s, c)
    require(is_master(s), "the broker is the master")
    require(c.parks_poison, "what cannot be copied is put aside")
    require(is_beyond_keeping(s, c, half_read(s)), "it cannot be read, or it would be put back and cannot")
    discard(s, c, half_read(s))


def is_beyond_keeping(s: State, c: Constants, h: int) -> bool:
    """The half cannot be decoded, or its time has come to be put back and its copy cannot be stored."""
    is_to_be_put_back = not is_fresh(s, c, h) and (is_immune(s, c, h) or not is_young(s, c, h))
    return not can_be_decoded(s, h) or (not can_be_copied(s, h) and is_to_be_put_back)


def discard(s: State, c: Constants, h: int) -> None:
    """The half goes to TRANS_CHECK_MAX_TIME_TOPIC, or only to the log."""
    if c.keeps_discarded:
        s.transaction[s.half[h].transaction].parked = True
    remember_discard(s, c, h, Left.KEPT_ASIDE if c.keeps_discarded else Left.DROPPED)
    s.round.cursor += 1
