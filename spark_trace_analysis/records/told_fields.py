"""What a transaction's record tells, field by field: the rows of the columns that :mod:`property_kernels` fills.

Apart from the kernels, so that whoever only reads the columns need not load a compiler. Compiled kernels take the
numbers for constants and are kept from run to run: a new field goes behind the others.
"""

from enum import IntEnum

NOTHING = -(1 << 62)
"""Where a record has no such number."""


class Told(IntEnum):
    """The fields of what a record tells; texts are given by their positions in the file, 0 and 0 if there are none."""

    KIND = 0
    IS_ODD = 1
    KEY_HASH = 2
    GROUP_HASH = 3
    CHECK_TIMES = 4
    IMMUNITY_SECONDS = 5
    HAS_PREPARED_QUEUE_OFFSET = 6
    UNCHANGING = 7
    REAL_TOPIC = 8
    REAL_QUEUE = 9
    PREPARED_QUEUE_OFFSET = 10
    BIRTH = 11
    FEATURES = 12
    STORE_HOST = 13
    KEY_AT = 14
    KEY_SIZE = 15
    GROUP_AT = 16
    GROUP_SIZE = 17
    TOPIC_AT = 18
    TOPIC_SIZE = 19
    TAGS_CODE = 20
    ENTRIES = 21


class Feature(IntEnum):
    """Bits of a record that tell versions apart, and whether its properties stand in a known order."""

    TRANSACTION_ID = 1
    TRAILING_SEPARATOR = 2
    REGION = 4
    SMALL_ORDER = 8
    LARGE_ORDER = 16
    REAL_TOPIC = 32
    BATCHED = 64
