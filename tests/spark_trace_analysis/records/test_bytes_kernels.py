"""Checksums by machine code are those of zlib."""

import zlib

import numpy as np

from spark_trace_analysis.records.bytes_kernels import CRC_TABLES, crc32


def test_a_checksum_is_that_of_zlib_whatever_the_length() -> None:
    raw = bytes(range(200, 256)) + b"a body of some length"
    data = np.frombuffer(raw, np.uint8)
    for end in range(len(raw) + 1):
        assert crc32(data, 0, end, CRC_TABLES) == zlib.crc32(raw[:end])
