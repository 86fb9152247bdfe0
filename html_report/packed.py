"""Parts of a page that its script puts in, deflated together: drawings and schedules in steps repeat each other.

They are a megabyte and a half of the report as text, and a tenth of that so. What a page says in words is not packed.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup


class Packed:
    """Takes parts in while a page is rendered; its last element holds them (``unpack.js``).

    Examples
    --------
    >>> packed = Packed()
    >>> packed.add("<svg/>"), packed.add("<svg/>"), packed.add("<p>")
    (0, 0, 1)
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def add(self, part: Markup | str) -> int:
        """Take in a part of the page; gives the number by which the page names it."""
        return self._places.setdefault(str(part), len(self._places))

    @property
    def base64(self) -> str:
        """All parts as a JSON list, by zlib, in letters."""
        content = json.dumps(list(self._places), ensure_ascii=False, separators=(",", ":"))
        return b64encode(zlib.compress(content.encode(), 9)).decode()
