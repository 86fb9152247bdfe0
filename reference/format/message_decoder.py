"""The properties of a message as the one string in which they are stored (``MessageDecoder``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.properties import LARGE_CAPACITY, SMALL_CAPACITY
from reference.java.hash_map import hash_map_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.versions.versions import VersionSwitches


def message_properties_to_string(
    properties: Mapping[str, str], switches: VersionSwitches, *, is_own_message: bool = False
) -> str:
    r"""Each key, 0x01, its value and 0x02; some versions leave the last 0x02 out (``#messageProperties2String``).

    They come in the order of the HashMap that the broker has read them into; the mapping is in the order of putting.

    Parameters
    ----------
    is_own_message
        The broker has made the message itself, so that its map began with 16 buckets in every version.

    Examples
    --------
    >>> from reference.versions.versions import V4_9_7, V5_3_3
    >>> message_properties_to_string({"TAGS": "d"}, V5_3_3), message_properties_to_string({"TAGS": "d"}, V4_9_7)
    ('TAGS\x01d\x02', 'TAGS\x01d')
    """
    capacity = LARGE_CAPACITY if switches.has_large_property_map and not is_own_message else SMALL_CAPACITY
    text = "\x02".join([f"{key}\x01{properties[key]}" for key in hash_map_order(tuple(properties), capacity)])
    return text + "\x02" if text and switches.keeps_last_separator else text
