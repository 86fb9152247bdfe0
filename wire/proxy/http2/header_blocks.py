"""Header blocks (RFC 7541): those of clients are read, with their table; those that are sent use no table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hpack import Decoder, Encoder, HPACKError, NeverIndexedHeaderTuple, OversizedHeaderListError

from wire.proxy.http2.errors import Http2Code, Http2Error

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_HEADER_BYTES: Final = 8 << 10
"""What the headers of a stream may count (``SETTINGS_MAX_HEADER_LIST_SIZE``)."""

MOST_BLOCK_BYTES: Final = 64 << 10
"""What their block may have in bytes, and its headers may count; with more, the connection ends."""

_ENTRY_BYTES: Final = 32
"""What a header counts beside its texts."""

_SHOWN: Final = 80


class HeaderReader:
    """Reads the header blocks of one connection, in their order."""

    def __init__(self) -> None:
        self._decoder = Decoder(MOST_BLOCK_BYTES)

    def read(self, block: bytes) -> dict[str, str] | None:
        r"""The headers by name, the last one of each; None if they count more than `MOST_HEADER_BYTES`.

        The table is kept in step in either case. `Http2Error` where the block can't be read.

        Examples
        --------
        >>> reader = HeaderReader()
        >>> reader.read(b"\x82\x40\x01a\x03bcd\xbe"), reader.read(b"\xbe"), reader.read(b"\xbe" * 300)
        ({':method': 'GET', 'a': 'bcd'}, {'a': 'bcd'}, None)
        """
        try:
            headers = self._decoder.decode(block, raw=True)
        except OversizedHeaderListError:
            message = f"headers of more than {MOST_BLOCK_BYTES} bytes"
            raise Http2Error(Http2Code.ENHANCE_YOUR_CALM, message) from None
        except HPACKError as error:
            message = f"a header block that can't be read: {error}"[:_SHOWN]
            raise Http2Error(Http2Code.COMPRESSION_ERROR, message) from None
        size, found = 0, {}
        for name, value in headers:
            size += len(name) + len(value) + _ENTRY_BYTES
            found[name.decode("latin-1")] = value.decode("latin-1")
        return found if size <= MOST_HEADER_BYTES else None


def header_block(headers: Iterable[tuple[str, str]]) -> bytes:
    r"""The block of headers, each as a literal that enters no table.

    Examples
    --------
    >>> header_block([("a", "b")])
    b'\x10\x01a\x01b'
    """
    literals = [NeverIndexedHeaderTuple(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return Encoder().encode(literals, huffman=False)
