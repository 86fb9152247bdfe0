"""The properties of a message as the one string in which they are stored (``MessageDecoder``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.store.properties import format_properties

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.version_switches import VersionSwitches


def message_properties_to_string(properties: Mapping[str, str], switches: VersionSwitches) -> str:
    r"""Each key, 0x01, its value and 0x02; some versions leave the last 0x02 out (``#messageProperties2String``).

    Examples
    --------
    >>> from reference.version_switches import V4_9_7, V5_3_3
    >>> message_properties_to_string({"TAGS": "d"}, V5_3_3), message_properties_to_string({"TAGS": "d"}, V4_9_7)
    ('TAGS\x01d\x02', 'TAGS\x01d')
    """
    return format_properties(properties.items(), trailing_separator=switches.keeps_last_separator)
