"""The tags code of a message: what a consume queue entry says of its tags."""

from __future__ import annotations

from reference.format.properties import NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR, TAGS, java_string_hash

_BEGIN = f"{TAGS}{NAME_VALUE_SEPARATOR}"
_LATER = f"{PROPERTY_SEPARATOR}{_BEGIN}"


def tags_code(properties_text: str) -> int:
    r"""The Java hash of TAGS in a stored property string, 0 without (``MessageExtBrokerInner#tagsString2tagsCode``).

    Examples
    --------
    >>> tags_code("WAIT\x01true\x02TAGS\x01d\x02"), tags_code("TAGS\x01TagA"), tags_code("XTAGS\x01d")
    (100, 2598919, 0)
    """
    start = properties_text.find(_LATER)
    if start >= 0:
        start += len(_LATER)
    elif properties_text.startswith(_BEGIN):
        start = len(_BEGIN)
    else:
        return 0
    end = properties_text.find(PROPERTY_SEPARATOR, start)
    return java_string_hash(properties_text[start:] if end < 0 else properties_text[start:end])
