"""What several queries ask of the rows before them: names for running counts, as Spark SQL."""

DELIVERED = {"delivered": "count_if(event = 'message_delivered') OVER of_transaction"}
"""Real messages of the transaction."""

ACKNOWLEDGED = {
    "acknowledged": "count_if(event IN ('op_stored', 'op_buffered', 'op_lost') AND half >= 0) OVER of_transaction"
}
"""END_TRANSACTIONs for halves of the transaction that were answered SUCCESS."""

PARKED = {
    "parked": """count_if(
        event = 'half_discarded' AND keeps_discarded = 1 AND action <> 'discard_half_unrecorded'
    ) OVER of_transaction"""
}
"""Halves of the transaction that went to the discard topic."""

CHECKED = {"checked": "count_if(event IN ('put_back_for_check', 'put_back_unasked')) OVER of_transaction"}
"""Copies of its half that were stored for a check, be it that nobody could be asked."""

SENT = {"sent": "count_if(event = 'half_stored') OVER of_transaction"}
"""Halves that its producer's sends stored."""

FIRST_HALF = {"first_half": "last(if(event = 'half_stored', half, NULL), true) OVER of_transaction"}
"""The offset that the producer knows: that of the last half which a send stored."""

POWER_LOST = {"power_lost": "count_if(event = 'power_lost') OVER of_trace"}
"""How often the machine has lost power: from then on, offsets may have been filled twice."""

ESCAPED = {"escaped": "count_if(event = 'half_escaped') OVER of_trace"}
"""Halves that were sent to another broker; one whose answer was lost is of no transaction in a trace."""

MOVED = {
    "moved": """last(CASE
        WHEN event IN ('half_passed', 'put_back_for_check', 'put_back_for_immunity', 'put_back_unasked',
                       'half_discarded', 'half_missed', 'half_escaped') THEN 1
        WHEN event IN ('round_ended', 'crashed', 'stopped', 'role_changed', 'power_lost', 'offsets_regressed') THEN 0
    END, true) OVER before"""
}
"""1 if some half was left behind since a round, or the process, last ended."""

OF_A_ROUND = """event IN ('half_passed', 'put_back_for_check', 'put_back_for_immunity', 'put_back_unasked',
    'half_discarded', 'half_missed', 'half_escaped', 'round_ended',
    'crashed', 'stopped', 'role_changed', 'power_lost', 'offsets_regressed')"""
"""The rows that `MOVED` needs."""


def is_missing_before(what: str, wanted: str, field: str) -> str:
    """An aggregate over a trace: some row is ``what``, and none of the same ``field`` before it is ``wanted``; perhaps.

    It is true of each trace of which that is true, and of few others. Where the field's numbers fit into 63 bits, sets
    of them are compared, and then the order of the rows; where they are below four, the order for each of them.
    """
    wanted_at = _lanes_of(wanted, field)
    not_after_it = f"({wanted_at} | (({wanted_at} | {_GUARDS}L) - {_LOWEST}L))"
    return f"""count_if({what}) > 0 AND (
        max({field}) >= {_BITS} OR ({_set_of(what, field)} & ~{_set_of(wanted, field)}) <> 0L
        OR (min(if({what}, step, NULL)) < max(if({wanted}, step, NULL))
            AND (max({field}) >= {_LANES} OR ({_lanes_of(what, field)} & {not_after_it}) <> 0L))
    )"""


def have_one_in_common(one: str, other: str, field: str) -> str:
    """An aggregate over a trace: a row that is ``one`` and a row that is ``other`` have the same ``field``.

    It is true of other traces, too, where the field's numbers do not fit into 63 bits.
    """
    return f"""count_if({one}) > 0 AND (
        max({field}) >= {_BITS} OR ({_set_of(one, field)} & {_set_of(other, field)}) <> 0L
    )"""


def is_repeated(what: str, field: str) -> str:
    """An aggregate over a trace: two rows that are ``what`` have the same ``field``; or its numbers are large."""
    return f"(max({field}) >= {_BITS} OR bit_count({_set_of(what, field)}) < count_if(({what}) AND {field} >= 0))"


_BITS = 63


def _set_of(rows: str, field: str) -> str:
    """The numbers of a field in some rows of a trace, a bit each."""
    return f"coalesce(bit_or(if(({rows}) AND {field} >= 0, shiftleft(1L, {field} % {_BITS}), NULL)), 0L)"


BITS_A_LANE = 14
_LANES = 4
_WIDTH = BITS_A_LANE + 1
_LOWEST = sum(1 << _WIDTH * lane for lane in range(_LANES))
_GUARDS = _LOWEST << BITS_A_LANE
"""A bit above each lane, from which the lane can borrow: less one, it has all bits below the lowest that was set."""


def _lanes_of(rows: str, field: str) -> str:
    """When there are such rows: a lane of bits for each small number of a field, each bit some steps of the trace.

    A step that is too late for all bits of a lane counts as the last one.
    """
    bit = f"{_WIDTH} * {field} + least(step DIV steps_a_bit, {BITS_A_LANE - 1})"
    return f"coalesce(bit_or(if(({rows}) AND {field} BETWEEN 0 AND {_LANES - 1}, shiftleft(1L, {bit}), NULL)), 0L)"
