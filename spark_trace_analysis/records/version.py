"""Infers which RocketMQ wrote a store, from what its records and its configuration show.

A stock broker leaves marks in each half (which properties it added, in which HashMap's order, whether the last
separator is kept), in op bodies (one number, or a list with commas), in delivered messages (REAL_TOPIC kept or
removed), and by writing discards at all. They tell ranges apart, not patch releases; the files of `config/` tell those
of 5.4.0 and later apart that saved them last. For many records at once, the releases that could have written each are
bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from files.reading import read_bytes
from reference.format import properties
from spark_trace_analysis.records.transaction_record import Feature, RecordField, RecordKind, is_batched
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reference.format.record import LogRecord

RELEASES = ("4.5.1", "4.9.7", "5.0.0", "5.1.0", "5.2.0", "5.3.3", "5.4.0", "5.5.0", "5.5.1")
"""The versions that the marks were verified on, in order."""


RECORDED_DISCARDS = "4.5.2"
"""From this version on a discard is a record; before, it is a line in the broker's log (A31)."""


class Writer(NamedTuple):
    """The release, or a range of two joined by a hyphen, that wrote the part of a log from a record's offset on."""

    start: int
    version: str

    def __str__(self) -> str:
        by = self.version.replace("-", " to ")
        return f"from byte {self.start} of the log on by {by}" if self.start else by


@dataclass(slots=True)
class VersionMarks:
    """Narrows the releases down, by all records together.

    Each record leaves the releases that could have written it. A store that one release wrote before an upgrade in
    place and another one after it leaves none: then it has two parts, parted at the first record that the release of
    those before it could not have written. Where that does not lead to two parts, the last half counts.

    Attributes
    ----------
    seen
        The releases that records leave, as bits, to the commit log offsets of the first and the last such record.
    last_half
        The offset of the last half, and the releases that it leaves.
    """

    seen: dict[int, tuple[int, int]] = field(default_factory=dict)
    last_half: tuple[int, int] = (-1, 0)

    def see(self, record: LogRecord, kind: RecordKind) -> None:
        """Take in one record of a transaction."""
        releases = writers_of(record, kind)
        if releases is not None:
            at, mask = record.physical_offset, mask_of(releases)
            is_half = kind in (RecordKind.FIRST_HALF, RecordKind.PUT_BACK)
            self.take({mask: (at, at)}, (at, mask) if is_half else (-1, 0))

    def take(self, seen: Mapping[int, tuple[int, int]], last_half: tuple[int, int]) -> None:
        """Take in what some records leave."""
        for mask, (first, last) in seen.items():
            known = self.seen.get(mask, (first, last))
            self.seen[mask] = min(known[0], first), max(known[1], last)
        self.last_half = max(self.last_half, last_half)

    def version(self, saved_by: frozenset[str] = frozenset(RELEASES)) -> str | None:
        """The version, or a range of two joined by a hyphen; None without evidence, or where it fits no release.

        Of two parts, it is that of the later one, which goes on. The releases that could have saved the configuration
        last count as far as they fit the records.
        """
        parts = self._parts()
        possible = releases_of(parts[-1][1]) if parts else releases_of(self.last_half[1])
        if not self.seen or not possible:
            return None
        return _range_of(possible & saved_by or possible)

    def writers(self, saved_by: frozenset[str] = frozenset(RELEASES)) -> tuple[Writer, ...]:
        """Who wrote the parts of a log that two releases wrote; empty for one that was written by one."""
        parts = self._parts()
        if len(parts) < 2:
            return ()
        earlier, later = (releases_of(mask) for _, mask in parts)
        return Writer(0, _range_of(earlier)), Writer(parts[1][0], _range_of(later & saved_by or later))

    def _parts(self) -> list[tuple[int, int]]:
        """Where each part begins, and the releases that could have written it; empty if two parts do not explain all.

        One record alone, which may be damaged, is no part.
        """
        before = everything = (1 << len(RELEASES)) - 1
        for mask, (first, _) in sorted(self.seen.items(), key=lambda item: item[1]):
            if before & mask:
                before &= mask
                continue
            after = everything
            for other, (_, last) in self.seen.items():
                after &= other if last >= first else everything
            is_more_than_one = any(last > first for _, last in self.seen.values())
            return [(0, before), (first, after)] if after and is_more_than_one else []
        return [(0, before)]


def _range_of(releases: frozenset[str]) -> str:
    ordered = [release for release in RELEASES if release in releases]
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}-{ordered[-1]}"


@lru_cache(maxsize=64)
def is_before(version: str | None, release: str) -> bool:
    """Whether every version of a range is older than a release; False if the version is not known.

    Examples
    --------
    >>> is_before("4.5.1", "4.5.2"), is_before("5.2.0-5.3.3", "5.3.0"), is_before(None, "5.4.0")
    (True, False, False)
    """
    return version is not None and release_numbers(version.split("-")[-1]) < release_numbers(release)


@lru_cache(maxsize=64)
def is_since(version: str | None, release: str) -> bool:
    """Whether every version of a range is a release or younger; False if the version is not known."""
    return version is not None and release_numbers(version.split("-")[0]) >= release_numbers(release)


def _since(release: str) -> frozenset[str]:
    return frozenset(RELEASES[RELEASES.index(release) :])


def _until(release: str) -> frozenset[str]:
    return frozenset(RELEASES[: RELEASES.index(release) + 1])


def savers_of(store: Path, *, knows_offsets: bool = True) -> frozenset[str]:
    """The releases that could have saved a store's configuration last; all of them where its files tell nothing.

    `consumerOrderInfo.json` names a level from 5.4.0 on and a count from 5.5.0 on (ConsumerOrderInfoManager);
    `consumerOffset.json` has a `pullOffsetTable` in 5.5.0 only (ConsumerOffsetManager#getPullOffsetTable: none before,
    and transient in 5.5.1). It is of another time where a broker does not save its offsets in it.
    """
    order, offsets = (_content(store / "config" / name) for name in ("consumerOrderInfo.json", "consumerOffset.json"))
    releases = frozenset(RELEASES)
    if order:
        is_counted, has_level = b'"orderInfoCount"' in order, b'"orderedConsumptionLevel"' in order
        releases = _since("5.5.0") if is_counted else frozenset({"5.4.0"}) if has_level else _until("5.3.3")
    if knows_offsets and b'"offsetTable"' in offsets:
        has_pulls = b'"pullOffsetTable"' in offsets
        releases &= frozenset({"5.5.0"}) if has_pulls else frozenset(RELEASES) - {"5.5.0"}
    return releases or frozenset(RELEASES)


def _content(file: Path) -> bytes:
    return read_bytes(file) if file.is_file() else b""


def writers_of(record: LogRecord, kind: RecordKind) -> frozenset[str] | None:
    """The releases that could have written a record; None if it tells nothing."""
    if kind in (RecordKind.FIRST_HALF, RecordKind.PUT_BACK):
        values = record.properties
        keys = [key for key, _ in record.pairs]
        return writers_of_half(
            has_transaction_id=properties.TRANSACTION_ID in values,
            has_trailing_separator=record.properties_text.endswith(properties.PROPERTY_SEPARATOR),
            has_region=properties.MESSAGE_REGION in values,
            is_in_small_order=properties.is_in_hash_map_order(keys, properties.SMALL_CAPACITY),
            is_in_large_order=properties.is_in_hash_map_order(keys, properties.LARGE_CAPACITY),
        )
    if kind is RecordKind.OP:
        return writers_of_op(is_batched=is_batched(record.body))
    if kind is RecordKind.DELIVERED:
        return writers_of_delivery(keeps_real_topic=properties.REAL_TOPIC in record.properties)
    return WRITERS_OF_DISCARDS if kind is RecordKind.DISCARDED else None


def writers_of_op(*, is_batched: bool) -> frozenset[str]:
    """The releases that could have written an op message, by whether its body lists offsets."""
    return _since("5.1.0") if is_batched else _until("5.0.0")


def writers_of_delivery(*, keeps_real_topic: bool) -> frozenset[str]:
    """The releases that could have written a committed message, by whether REAL_TOPIC is still in it."""
    return _until("5.3.3") if keeps_real_topic else _since("5.4.0")


WRITERS_OF_DISCARDS = _since("4.9.7")


def writers_of_half(
    *,
    has_transaction_id: bool,
    has_trailing_separator: bool,
    has_region: bool,
    is_in_small_order: bool,
    is_in_large_order: bool,
) -> frozenset[str]:
    """The releases that could have written a half."""
    releases = _since("5.1.0") if has_transaction_id else _until("5.0.0")
    releases &= frozenset({"4.5.1"}) | _since("5.2.0") if has_trailing_separator else frozenset(RELEASES[1:4])
    if not has_region:
        releases -= _since("5.0.0")
    elif releases <= _until("5.0.0") and len(releases) > 1:
        releases -= frozenset({"4.9.7"})
    if not is_in_large_order:
        releases -= _since("5.1.0")
    elif not is_in_small_order:
        releases -= _until("5.0.0")
    return releases


def mask_of(releases: frozenset[str] | None) -> int:
    """The releases as bits; all of them where a record tells nothing."""
    return (1 << len(RELEASES)) - 1 if releases is None else sum(1 << RELEASES.index(release) for release in releases)


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


def masks_of(fields: Any) -> Any:
    """For each record the releases that could have written it, as bits."""
    kind, bits = fields[RecordField.KIND], fields[RecordField.FEATURES]
    masks = _MASK_OF_HALF[bits & 31]
    masks = np.where(kind == RecordKind.DISCARDED, mask_of(WRITERS_OF_DISCARDS), masks)
    keeps, loses = (mask_of(writers_of_delivery(keeps_real_topic=keeps)) for keeps in (True, False))
    masks = np.where(kind == RecordKind.DELIVERED, np.where(bits & Feature.REAL_TOPIC, keeps, loses), masks)
    one, many = (mask_of(writers_of_op(is_batched=is_batched)) for is_batched in (False, True))
    return np.where(kind == RecordKind.OP, np.where(bits & Feature.BATCHED, many, one), masks)
