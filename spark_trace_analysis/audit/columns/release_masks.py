"""The releases that could have written a record as bits, for all records of a split at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from spark_trace_analysis.records.record_kind import RecordKind
from spark_trace_analysis.records.told_fields import Feature, Told
from spark_trace_analysis.records.version import (
    RELEASES,
    WRITERS_OF_DISCARDS,
    writers_of_delivery,
    writers_of_half,
    writers_of_op,
)

ALL_RELEASES = (1 << len(RELEASES)) - 1


def mask_of(releases: frozenset[str] | None) -> int:
    """The releases as bits; all of them where a record tells nothing."""
    return ALL_RELEASES if releases is None else sum(1 << RELEASES.index(release) for release in releases)


def releases_of(mask: int) -> frozenset[str]:
    """The releases of some bits."""
    return frozenset(release for number, release in enumerate(RELEASES) if mask >> number & 1)


_MASK_OF_HALF = np.array(
    [
        mask_of(
            writers_of_half(
                has_transaction_id=bool(bits & Feature.TRANSACTION_ID),
                has_trailing_separator=bool(bits & Feature.TRAILING_SEPARATOR),
                has_region=bool(bits & Feature.REGION),
                is_in_small_order=bool(bits & Feature.SMALL_ORDER),
                is_in_large_order=bool(bits & Feature.LARGE_ORDER),
            )
        )
        for bits in range(32)
    ]
)


def masks_of(told: Any) -> Any:
    """For each record the releases that could have written it, as bits."""
    kind, bits = told[Told.KIND], told[Told.FEATURES]
    masks = _MASK_OF_HALF[bits & 31]
    masks = np.where(kind == RecordKind.DISCARDED, mask_of(WRITERS_OF_DISCARDS), masks)
    keeps, loses = (mask_of(writers_of_delivery(keeps_real_topic=keeps)) for keeps in (True, False))
    masks = np.where(kind == RecordKind.DELIVERED, np.where(bits & Feature.REAL_TOPIC, keeps, loses), masks)
    one, many = (mask_of(writers_of_op(is_batched=is_batched)) for is_batched in (False, True))
    return np.where(kind == RecordKind.OP, np.where(bits & Feature.BATCHED, many, one), masks)
