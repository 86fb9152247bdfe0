"""Numbers, checksums and hashes out of raw bytes, as machine code: the parts of the kernels that scan a commit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from model_check.explicit.code_generation.compile_lock import cached_njit

if TYPE_CHECKING:
    from collections.abc import Iterable

HASH_START = np.uint64(0xCBF29CE484222325)
_HASH_FACTOR = np.uint64(0x100000001B3)
_MIX_1, _MIX_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_MIX_SHIFT = np.uint64(33)
_SLICES = 16


def _crc_tables() -> np.ndarray[Any, Any]:
    """CRC-32 of one byte with 0 to 15 zero bytes behind it (Intel's "slicing" method)."""
    tables = np.zeros((_SLICES, 256), np.uint32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        tables[0, byte] = value
    for number in range(1, _SLICES):
        before = tables[number - 1]
        tables[number] = before >> 8 ^ tables[0][before & 0xFF]
    return tables


CRC_TABLES = _crc_tables()


def _loader(bits: int, *, is_big: bool) -> Any:
    """A function ``(array of bytes, position)`` that gives an unsigned number that starts anywhere."""

    def load(typing_context: Any, array: Any, position: Any) -> Any:  # noqa: ARG001
        width = types.uint64 if bits == 64 else types.uint32
        signature = width(array, types.int64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            address = builder.gep(data, [arguments[1]], inbounds=True)
            value = builder.load(builder.bitcast(address, ir.IntType(bits).as_pointer()))
            value.align = 1
            return builder.bswap(value) if is_big else value

        return signature, generate

    return intrinsic(load)


def _storer() -> Any:
    """A function ``(array of bytes, position, value)`` that puts an unsigned 64-bit number anywhere."""

    def store(typing_context: Any, array: Any, position: Any, value: Any) -> Any:  # noqa: ARG001
        signature = types.void(array, types.int64, types.uint64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            address = builder.gep(data, [arguments[1]], inbounds=True)
            builder.store(arguments[2], builder.bitcast(address, ir.IntType(64).as_pointer()), align=1)
            return context.get_dummy_value()

        return signature, generate

    return intrinsic(store)


_be64 = _loader(64, is_big=True)
_be32 = _loader(32, is_big=True)
_le64 = _loader(64, is_big=False)
_put64 = _storer()


@cached_njit
def long_at(data: Any, at: Any) -> Any:
    """Eight bytes, big endian, signed."""
    return np.int64(_be64(data, at))


@cached_njit
def int_at(data: Any, at: Any) -> Any:
    """Four bytes, big endian, signed."""
    return np.int64(np.int32(_be32(data, at)))


@cached_njit
def unsigned_at(data: Any, at: Any) -> Any:
    """Four bytes, big endian."""
    return np.int64(_be32(data, at))


@cached_njit
def copy_bytes(data: Any, start: Any, size: Any, out: Any, at: Any) -> None:
    """Copy some bytes to a place in another array, eight a step."""
    copied = np.int64(0)
    while copied + 8 <= size:
        _put64(out, at + copied, _le64(data, start + copied))
        copied += 8
    while copied < size:
        out[at + copied] = data[start + copied]
        copied += 1


@cached_njit
def crc32(data: Any, start: Any, end: Any, tables: Any) -> Any:
    """CRC-32 of some bytes, as :func:`zlib.crc32`, sixteen bytes a step."""
    crc = np.uint64(0xFFFFFFFF)
    low = np.uint64(0xFF)
    at = np.int64(start)
    while at + 16 <= end:
        first = _le64(data, at) ^ crc
        second = _le64(data, at + 8)
        crc = np.uint64(
            tables[15, first & low]
            ^ tables[14, (first >> np.uint64(8)) & low]
            ^ tables[13, (first >> np.uint64(16)) & low]
            ^ tables[12, (first >> np.uint64(24)) & low]
            ^ tables[11, (first >> np.uint64(32)) & low]
            ^ tables[10, (first >> np.uint64(40)) & low]
            ^ tables[9, (first >> np.uint64(48)) & low]
            ^ tables[8, first >> np.uint64(56)]
            ^ tables[7, second & low]
            ^ tables[6, (second >> np.uint64(8)) & low]
            ^ tables[5, (second >> np.uint64(16)) & low]
            ^ tables[4, (second >> np.uint64(24)) & low]
            ^ tables[3, (second >> np.uint64(32)) & low]
            ^ tables[2, (second >> np.uint64(40)) & low]
            ^ tables[1, (second >> np.uint64(48)) & low]
            ^ tables[0, second >> np.uint64(56)]
        )
        at += 16
    while at < end:
        crc = np.uint64(tables[0, (crc ^ np.uint64(data[at])) & low]) ^ (crc >> np.uint64(8))
        at += 1
    return np.int64(crc ^ np.uint64(0xFFFFFFFF))


def word_table(words: Iterable[bytes]) -> np.ndarray[Any, Any]:
    """Some words as a table for :func:`is_word` and :func:`begins_with`: a row each, its length first."""
    listed = list(words)
    table = np.zeros((len(listed), 1 + max(map(len, listed))), np.uint8)
    for row, word in zip(table, listed, strict=True):
        row[0] = len(word)
        row[1 : 1 + len(word)] = list(word)
    return table


@cached_njit
def begins_with(data: Any, at: Any, size: Any, words: Any, row: Any) -> bool:
    """Whether some bytes begin with a word of a table."""
    length = np.int64(words[row, 0])
    if size < length:
        return False
    for index in range(length):  # noqa: SIM110 - Numba has no all()
        if data[at + index] != words[row, 1 + index]:
            return False
    return True


@cached_njit
def is_word(data: Any, at: Any, size: Any, words: Any, row: Any) -> bool:
    """Whether some bytes are a word of a table."""
    return bool(size == words[row, 0] and begins_with(data, at, size, words, row))


@cached_njit
def are_same(data: Any, at: Any, other: Any, size: Any) -> bool:
    """Whether the same bytes stand at two places."""
    for index in range(size):  # noqa: SIM110 - Numba has no all()
        if data[at + index] != data[other + index]:
            return False
    return True


@cached_njit
def _are_bytes(data: Any, starts: Any, sizes: Any, wanted: Any, same: Any) -> None:
    for number in range(len(starts)):
        at, size = starts[number], sizes[number]
        same[number] = size == len(wanted)
        for index in range(min(size, len(wanted))):
            if data[at + index] != wanted[index]:
                same[number] = False
                break


def are_bytes(data: Any, starts: Any, sizes: Any, wanted: Any) -> Any:
    """Which of some stretches of bytes are the wanted bytes."""
    same = np.empty(len(starts), bool)
    _are_bytes(data, starts, sizes, wanted, same)
    return same


@cached_njit
def hash_step(value: Any, byte: Any) -> Any:
    """Take one byte, or any number, into a hash (FNV-1a)."""
    return (value ^ np.uint64(byte)) * _HASH_FACTOR


@cached_njit
def mixed(value: Any) -> Any:
    """Spread a hash over all of its bits (MurmurHash3's finaliser)."""
    value = (value ^ (value >> _MIX_SHIFT)) * _MIX_1
    value = (value ^ (value >> _MIX_SHIFT)) * _MIX_2
    return value ^ (value >> _MIX_SHIFT)


@cached_njit
def hash_of(data: Any, start: Any, end: Any) -> Any:
    """64 bits that stand for some bytes; never 0."""
    value = HASH_START
    for at in range(start, end):
        value = hash_step(value, data[at])
    value = mixed(value)
    return np.int64(value if value != 0 else np.uint64(1))


def hash_bytes(raw: bytes) -> int:
    """The same of Python's own bytes.

    Examples
    --------
    >>> hash_bytes(b"order-1") == hash_bytes(b"order-1") != hash_bytes(b"order-2")
    True
    """
    return int(hash_of(np.frombuffer(raw, np.uint8), 0, len(raw)))


@cached_njit
def _gather(data: Any, starts: Any, ends: Any, out: Any) -> None:
    for number in range(len(starts) - 1):
        copy_bytes(data, starts[number], ends[number + 1] - ends[number], out, ends[number])


def gather(data: Any, starts: Any, sizes: Any) -> tuple[Any, Any]:
    """Some stretches of bytes, one behind the other, and where each ends up: one offset more than stretches."""
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    _gather(data, np.append(starts, 0), offsets, out)
    return out, offsets
