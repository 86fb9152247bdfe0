"""The half offsets that the bodies of op messages list, as machine code.

RocketMQ: up to 5.0 a body is one decimal number, from 5.1 on a list in which each offset is followed by a comma
(:func:`spark_trace_analysis.records.transaction_record.parse_op_body`).
"""

from typing import Any

import numpy as np

from model_check.explicit.code_generation.compile_lock import cached_njit
from spark_trace_analysis.records.record_kernels import Bytes, Columns, Outline

MOST_DIGITS = 18
"""So long a number surely fits into 64 bits."""


@cached_njit
def count_entries(data: Any, start: Any, end: Any) -> Any:
    """How many half offsets an op body lists, whether it is such a list, and whether it has a comma."""
    count, digits, has_comma = 0, 0, False
    for at in range(start, end):
        byte = data[at]
        if byte == 44:
            if digits == 0:
                return 0, False, True
            count, digits, has_comma = count + 1, 0, True
        elif byte < 48 or byte > 57 or digits == MOST_DIGITS:
            return 0, False, has_comma
        else:
            digits += 1
    count += digits > 0
    return count, count > 0, has_comma


@cached_njit
def _list_entries(data: Any, outlines: Any, chosen: Any, offsets: Any, records: Any) -> None:
    count = 0
    for number in range(len(chosen)):
        start = outlines[Outline.BODY_AT, chosen[number]]
        end = start + outlines[Outline.BODY_SIZE, chosen[number]]
        value, digits = np.int64(0), 0
        for at in range(start, end):
            if data[at] == 44:
                offsets[count], records[count] = value, number
                count, value, digits = count + 1, np.int64(0), 0
            else:
                value, digits = value * 10 + np.int64(data[at]) - 48, digits + 1
        if digits:
            offsets[count], records[count] = value, number
            count += 1


def list_entries(data: Bytes, outlines: Columns, chosen: Columns, count: int) -> tuple[Columns, Columns]:
    """The half offsets in the bodies of some op records, and the place of each one's record among the chosen.

    Parameters
    ----------
    chosen
        Numbers of op records that :func:`tell` does not call odd.
    count
        How many offsets they list in all.
    """
    offsets, records = np.empty(count, np.int64), np.empty(count, np.int64)
    _list_entries(data, outlines, chosen, offsets, records)
    return offsets, records
