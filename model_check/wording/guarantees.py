"""The guarantees in a few words each, as the narrowest column of a table takes them; the README has them in full."""

from types import MappingProxyType
from typing import Final

GUARANTEES: Final = MappingProxyType(
    {
        "S1": "delivered at most once",
        "S2": "rolled back: never delivered",
        "S3": "only commits are delivered",
        "S4": "an op settles only its own half",
        "S5": "invisible until a commit arrives",
        "S6": "delivered as it was sent",
        "S7": "no op is passed unread",
        "S8": "no half is passed unsettled",
        "S9": "settled in time: never checked",
        "S10": "after SUCCESS the op survives",
        "L1": "no transaction is lost for good",
        "L2": "discarded only after all checks",
        "L3": "nothing holds up check rounds",
        "L4": "the op queue is read to its end",
        "L5": "every commit is carried out",
        "R1": "no needless writes, no spinning",
    }
)
"""By the id of the property."""
