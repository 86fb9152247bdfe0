"""A message of the half queue: its age, its immunity, its checks, and what can be done with it."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import NONE
from spec.roles import is_master
from spec.state import End, Kind, Left, Producer, RolledBack, State


def age(s: State, h: int) -> int:
    """How old the message is: born when its producer sent it, not when a copy was stored."""
    return s.now - s.half[h].born_at


def own_immunity(s: State, h: int) -> int:
    """CHECK_IMMUNITY_TIME_IN_SECONDS of the message, or NONE."""
    return s.transaction[s.half[h].transaction].immunity


def immunity(s: State, c: Constants, h: int) -> int:
    """checkImmunityTime: the message's own, or else the timeout.

    RocketMQ: TransactionalMessageServiceImpl#check and #getImmunityTime. END_TRANSACTION never takes it for shorter
    than the timeout (TransactionalMessageUtil#getImmunityTime), the check service does (B25).
    """
    own = own_immunity(s, h)
    return c.timeout if own == NONE or (c.one_immunity and own < c.timeout) else own


def has_immunity(s: State, h: int) -> bool:
    """The message carries CHECK_IMMUNITY_TIME_IN_SECONDS."""
    return own_immunity(s, h) != NONE


def is_first_half(s: State, h: int) -> bool:
    """The half that the producer's send stored, not a put-back copy."""
    return s.transaction[s.half[h].transaction].first_half == h


def can_be_copied(s: State, h: int) -> bool:
    """A copy of the half, which is longer than the half itself, can be stored (B07)."""
    return s.transaction[s.half[h].transaction].kind != Kind.POISON


def can_be_decoded(s: State, h: int) -> bool:
    """The half is a message that can be read."""
    return s.transaction[s.half[h].transaction].kind != Kind.UNDECODABLE


def can_be_looked_up(s: State, h: int) -> bool:
    """The commit log has the half, and it can be decoded.

    RocketMQ: DefaultMessageStore#lookMessageByOffset.
    """
    return h >= s.gone.halves and can_be_decoded(s, h)


def is_known_as_settled(s: State, c: Constants, t: int) -> bool:
    """The index of settled transactions has it, where there is one (a repair). Resuming a half opens it again."""
    is_put_aside = s.transaction[t].parked and not was_resumed(s, c, t)
    return is_left_to_another(s, c, t) or (
        c.settles_once
        and (s.transaction[t].deliveries > 0 or s.transaction[t].rolled_back != RolledBack.NO or is_put_aside)
    )


def is_left_to_another(s: State, c: Constants, t: int) -> bool:
    """A half of the transaction has escaped, and none is left at the half offset or above: the slave passed them all.

    RocketMQ: SlaveSynchronize; what lies between its own half offset and the slave's has escaped, or was settled.
    """
    return (
        c.leaves_escaped
        and is_master(s)
        and s.transaction[t].escaped > 0
        and not any(
            s.half[h].transaction == t and h >= s.offsets.half and h < s.half_length for h in range(c.half_slots)
        )
    )


def has_a_copy_ahead(s: State, c: Constants, h: int) -> bool:
    """A later message of the half queue knows the same original as half h, or h itself as that: it was put back.

    RocketMQ: PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET, TransactionalMessageBridge#renewImmunityHalfMessageInner. A
    repaired service keeps an index of the copies at the half offset and above, made anew after a start.
    """
    original = h if s.half[h].original == NONE else s.half[h].original
    return c.copies_once and any(
        k > h and k < s.half_length and s.half[k].original == original for k in range(c.half_slots)
    )


def was_resumed(s: State, c: Constants, t: int) -> bool:
    """A discarded half of the transaction was put back by an operator."""
    return s.transaction[t].resumed_before or any(
        s.half[h].transaction == t and s.half[h].left == Left.RESUMED for h in range(c.half_slots)
    )


def is_young(s: State, c: Constants, h: int) -> bool:
    """Its timeout or immunity is not over. At exactly that age, versions differ (A19).

    RocketMQ: TransactionalMessageServiceImpl#check.
    """
    return age(s, h) < immunity(s, c, h) or (c.equal_age_is_young and age(s, h) == immunity(s, c, h))


def is_immune(s: State, c: Constants, h: int) -> bool:
    """It has an immunity of its own, which is not over."""
    return has_immunity(s, h) and is_young(s, c, h)


def is_too_immune(s: State, c: Constants, h: int) -> bool:
    """CHECK_IMMUNITY_TIME_IN_SECONDS is longer than `transactionCheckMax` check intervals.

    RocketMQ: TransactionalMessageServiceImpl#check.
    """
    return c.skips_long_immunities and is_immune(s, c, h) and own_immunity(s, h) > c.time_of_all_checks


def is_over_age(s: State, c: Constants, h: int) -> bool:
    """It is older than fileReservedTime (B45).

    RocketMQ: TransactionalMessageServiceImpl#needSkip.
    """
    return c.reserved_time != NONE and age(s, h) > c.reserved_time


def has_no_checks_left(s: State, c: Constants, h: int) -> bool:
    """It was put back `transactionCheckMax` times.

    RocketMQ: TransactionalMessageServiceImpl#needDiscard.
    """
    return s.half[h].check_times >= c.check_max


def must_be_discarded(s: State, c: Constants, h: int) -> bool:
    """needDiscard or needSkip, which the loop asks before it knows all op messages (A10).

    RocketMQ: TransactionalMessageServiceImpl#check.
    """
    can_be_asked = c.asks_the_old and s.producer == Producer.ONLINE
    return (has_no_checks_left(s, c, h) and not c.discards_instead_of_checking) or (
        is_over_age(s, c, h) and not can_be_asked
    )


def born_ahead(s: State, h: int) -> bool:
    """It has no immunity of its own and was born in the future: it is not young, and is checked at once (B27)."""
    return not has_immunity(s, h) and age(s, h) < 0


def its_op_is_to_come(s: State, c: Constants, h: int) -> bool:
    """A repaired service knows that an END_TRANSACTION of the half was carried out and its op entry is on its way.

    RocketMQ: TransactionalMessageServiceImpl#check.
    """
    return c.keeps_check_open and (s.batch.names.has(h) or s.half[h].end == End.COMMIT_STORED)


def awaits_its_producer(s: State, c: Constants, t: int) -> bool:
    """A check request or an END_TRANSACTION of the transaction is under way, or is being handled."""
    return any(
        s.half[h].transaction == t and (s.half[h].check_in_flight or s.half[h].end != End.NONE)
        for h in range(c.half_slots)
    )
