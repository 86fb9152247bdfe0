"""Writes small stores for the tests, with code of its own: nothing of it is shared with the reader under test."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

HALF, OP, DISCARD = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"
BROKER, PRODUCER = bytes([127, 0, 0, 1]), bytes([192, 0, 2, 7])
ORDER = [
    "MSG_REGION",
    "UNIQ_KEY",
    "CLUSTER",
    "PGROUP",
    "__transactionId__",
    "TAGS",
    "TRAN_MSG",
    "KEYS",
    "WAIT",
    "CHECK_IMMUNITY_TIME_IN_SECONDS",
    "TRAN_PREPARED_QUEUE_OFFSET",
    "TRACE_ON",
    "TRANSACTION_CHECK_TIMES",
    "REAL_TOPIC",
    "REAL_QID",
]
OLD_ORDER = [
    "CHECK_IMMUNITY_TIME_IN_SECONDS",
    "REAL_TOPIC",
    "TRAN_PREPARED_QUEUE_OFFSET",
    "TRANSACTION_CHECK_TIMES",
    "KEYS",
    "TRAN_MSG",
    "UNIQ_KEY",
    "CLUSTER",
    "WAIT",
    "PGROUP",
    "TAGS",
    "REAL_QID",
]


def record_bytes(
    physical: int,
    topic: str,
    body: bytes = b"body",
    properties: str = "WAIT\x01true\x02",
    *,
    queue_id: int = 0,
    queue_offset: int = 0,
    flag: int = 0,
    sys_flag: int = 0,
    born: int = 1_000,
    stored: int = 1_000,
    prepared: int = 0,
    magic: int = 0xDAA320A7,
    born_host: bytes = PRODUCER,
    store_host: bytes = BROKER,
    reconsume_times: int = 0,
) -> bytes:
    raw, props = topic.encode(), properties.encode()
    length = struct.pack(">H" if magic == 0xDAA320AB else ">B", len(raw))
    tail = b"".join(
        [
            struct.pack(
                ">Iiiqqiq", zlib.crc32(body) & 0x7FFFFFFF, queue_id, flag, queue_offset, physical, sys_flag, born
            ),
            born_host + struct.pack(">i", 10911 if born_host == store_host else 4242),
            struct.pack(">q", stored),
            store_host + struct.pack(">i", 10911),
            struct.pack(">iqi", reconsume_times, prepared, len(body)) + body,
            length + raw,
            struct.pack(">H", len(props)) + props,
        ]
    )
    return struct.pack(">II", 8 + len(tail), magic) + tail


@dataclass
class Half:
    """What the writer remembers of a half it wrote."""

    physical: int
    offset: int
    born: int
    body: bytes
    properties: dict[str, str]
    flag: int


@dataclass
class StoreWriter:
    """A store in the making; ``version`` chooses what that version's broker would add to a half."""

    version: str = "5.3.3"
    log: bytearray = field(default_factory=bytearray)
    ends: dict[tuple[str, int], int] = field(default_factory=dict)
    entries: dict[tuple[str, int], bytearray] = field(default_factory=dict)
    now: int = 1_000_000

    @property
    def is_old(self) -> bool:
        return self.version < "5.1"

    def put(self, topic: str, body: bytes, properties: dict[str, str], **fields: int | bytes) -> tuple[int, int]:
        """Append one record; gives its commit log offset and its queue offset."""
        queue_id = int(fields.get("queue_id", 0))
        offset = self.ends.get((topic, queue_id), 0)
        order = OLD_ORDER if self.is_old or topic == OP else ORDER
        names = sorted(properties, key=lambda name: order.index(name) if name in order else -1)
        text = "\x02".join(f"{name}\x01{properties[name]}" for name in names)
        text += "" if self.version in ("4.9.7", "5.0.0", "5.1.0") else "\x02"
        self.now += 1
        values = {"stored": self.now, "born": self.now} | fields
        raw = record_bytes(len(self.log), topic, body, text, queue_offset=offset, **values)  # type: ignore[arg-type]
        physical = len(self.log)
        self.log += raw
        self.ends[topic, queue_id] = offset + 1
        tags = 0
        for character in properties.get("TAGS", ""):
            tags = (31 * tags + ord(character)) & 0xFFFFFFFF
        tags -= (tags & 0x80000000) << 1
        self.entries.setdefault((topic, queue_id), bytearray()).extend(struct.pack(">qiq", physical, len(raw), tags))
        return physical, offset

    def half(self, key: str = "K1", *, group: str = "g", flag: int = 0, body: bytes = b"hello", **more: str) -> Half:
        properties = {"TRAN_MSG": "true", "WAIT": "true", "PGROUP": group, "REAL_TOPIC": "T", "REAL_QID": "0"}
        properties |= {"UNIQ_KEY": key} if key else {}
        if self.version != "4.5.1":
            properties["CLUSTER"] = "DefaultCluster"
        if not self.is_old:
            properties |= {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"} | (
                {"__transactionId__": key} if key else {}
            )
        properties |= more
        born = self.now
        physical, offset = self.put(HALF, body, properties, born=born, born_host=PRODUCER, flag=flag)
        return Half(physical, offset, born, body, properties, flag)

    def put_back(self, half: Half, *, immune: bool = False, after_ms: int = 1_000) -> Half:
        properties = dict(half.properties)
        properties["TRANSACTION_CHECK_TIMES"] = str(int(properties.get("TRANSACTION_CHECK_TIMES", "0")) + 1)
        if immune:
            properties.setdefault("TRAN_PREPARED_QUEUE_OFFSET", str(half.offset))
            properties["WAIT"] = "false"
        self.now += after_ms
        physical, offset = self.put(HALF, half.body, properties, born=half.born, born_host=PRODUCER)
        return Half(physical, offset, half.born, half.body, properties, 0)

    def op(self, *offsets: int) -> int:
        body = str(offsets[0]) if self.is_old else "".join(f"{offset}," for offset in offsets)
        return self.put(OP, body.encode(), {"WAIT": "true", "TAGS": "d"}, born_host=BROKER)[1]

    def deliver(self, half: Half, *, after_ms: int = 0) -> int:
        self.now += after_ms
        drop = ("REAL_TOPIC", "REAL_QID") if self.version >= "5.4" else ()
        properties = {name: value for name, value in half.properties.items() if name not in drop}
        fields: dict[str, int | bytes] = {
            "prepared": half.physical,
            "sys_flag": 8,
            "flag": half.flag,
            "born": half.born,
        }
        return self.put("T", half.body, properties, born_host=PRODUCER, **fields)[0]

    def commit(self, half: Half) -> None:
        self.deliver(half)
        self.op(half.offset)

    def discard(self, half: Half) -> None:
        self.put(DISCARD, half.body, half.properties, born=half.born, born_host=PRODUCER)

    def write(
        self,
        folder: Path,
        *,
        half: int | None = None,
        op: int | None = None,
        conf: str | None = None,
        has_offsets: bool = True,
        has_queues: bool = True,
    ) -> Path:
        """Write the store; the saved offsets are the queues' ends unless they are given."""
        (folder / "commitlog").mkdir(parents=True)
        (folder / "commitlog" / f"{0:020d}").write_bytes(self.log)
        for (topic, queue_id), entries in self.entries.items() if has_queues else ():
            queue = folder / "consumequeue" / topic / str(queue_id)
            queue.mkdir(parents=True)
            (queue / f"{0:020d}").write_bytes(entries)
        if has_offsets:
            half = self.ends.get((HALF, 0), 0) if half is None else half
            op = self.ends.get((OP, 0), 0) if op is None else op
            (folder / "config").mkdir()
            (folder / "config" / "consumerOffset.json").write_text(
                f'{{"offsetTable":{{"{HALF}@CID_RMQ_SYS_TRANS":{{0:{half}}},"{OP}@CID_RMQ_SYS_TRANS":{{0:{op}}}}}}}'
            )
        if conf is not None:
            (folder / "broker.conf").write_text(conf)
        return folder
