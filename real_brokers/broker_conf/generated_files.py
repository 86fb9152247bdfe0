"""Generated properties files that are hard to read, by seed: bytes as people, editors and accidents leave them."""

from __future__ import annotations

import random
from typing import Final

from reference.format.broker_keys import keys_of

_ENDS: Final = (b"\n", b"\r\n", b"\r", b"\n\r", b"\n\n", b"\r\r\n")
_NO_ENDS: Final = (b"\x85", b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e", b"\xc2\x85", b"\xe2\x80\xa8", b"\xa0", b"\x00")
_BLANKS: Final = (b"", b"", b" ", b"\t", b"\f", b"  ", b" \t\f ", b"\x0b", b"\x85", b"\xa0", b"\x1c")
_SEPARATORS: Final = (
    b"=", b"=", b"=", b" = ", b":", b" : ", b" ", b"\t", b"\f=", b"==", b":=", b"=:", b" = =", b"\\=", b"\\:", b"\\ ",
    b"\\\\=", b"\\\\\\=", b"", b"=  ", b"\x85=", b"\x0b=",
)  # fmt: skip
_WORDS: Final = (
    "配置者内全关超充入其公具", "生产者", "集群的名字：按需填写",
    "✅ checked", "日本語", "é", "中 文", "\u2028", "𠮷野家", "a", "broker-a",
)  # fmt: skip
_ODD_KEYS: Final = (
    b"", b"transactionTimeout", b"TransactionTimeOut", b"transaction\\u0054imeOut", b"transactionT\\imeOut",
    b"brokername",
    b"transaction\\ Time", b"a\\=b", b"a\\:b", b"\\#key", b"\\!key", b"\\ ", b"\\t", b"k\\\\", b"\\u4e2d\\u6587",
    "键".encode(), b"\xef\xbb\xbfbrokerName", b"key with", b"# no", b"set", b"class",
)  # fmt: skip
_JUDGED: Final = (
    "transactionTimeOut", "transactionCheckMax", "transactionCheckInterval", "transactionOpBatchInterval",
    "fileReservedTime",
    "brokerRole", "flushDiskType", "rejectTransactionMessage", "minInSyncReplicas", "storePathCommitLog",
    "brokerName",
    "timerPrecisionMs", "haListenPort", "metricsExporterType", "transientStorePoolEnable",
)  # fmt: skip
_NUMBERS: Final = (
    b"0", b"1", b"-1", b"+5", b"-0", b"007", b"6000", b"60s", b"20000 # twenty", b"20000#", b"29*1000",
    b"6000.0", b"1e3",
    b"1_000", b"0x10", b"2147483647", b"2147483648", b"-2147483648", b"-2147483649", b"9223372036854775807",
    b"9223372036854775808", b"-9223372036854775809", b"", b" ", b"6000 ", b"6000\t", b"\\u00206000", b"6000\\u0020",
    b"\\uff11\\uff12", b"\\u0661", b"\\ud835\\udfce", b"+", b"-", b"--1", b"1L", b"12 34", b"\xb2",
    b"000000000000000000000007",
)  # fmt: skip
_FRACTIONS: Final = (
    b"0.5", b".5", b"5.", b"1e3", b"1E-3", b"0x1p3", b"0x.8P1", b"0x1.8", b"1d", b"1F", b"NaN", b"+NaN", b"Infinity",
    b"-Infinity", b"inf", b"nan", b" 1 ", b"1 \\u0001", b"1e400", b"1e-400", b"1.2.3", b".", b"e5", b"0.1f", b"1_0.0",
)  # fmt: skip
_TRUTHS: Final = (
    b"true", b"TRUE", b"True ", b"true ", b" true", b"yes", b"1", b"false", b"FALSE", b"tru\\u0065",
    b"\\u0020true", b"",
    b"true # yes", b"t\\rue", "ｔｒｕｅ".encode(), b"on",
)  # fmt: skip


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.keys = [(key.name.encode(), key.kind) for key in keys_of(None).values()]
        self.judged = [(name.encode(), keys_of(None)[name].kind) for name in _JUDGED]

    def of(self, choices: tuple[bytes, ...]) -> bytes:
        return self.random.choice(choices)

    def is_so(self, share: float) -> bool:
        return self.random.random() < share

    def file(self) -> bytes:
        parts = [b"\xef\xbb\xbf"] if self.is_so(0.03) else []
        for _ in range(self.random.randint(1, 12)):
            parts += [self._line(), self.of(_NO_ENDS) if self.is_so(0.08) else self.of(_ENDS)]
        if self.is_so(0.3):
            parts.pop()
        if self.is_so(0.1):
            parts.append(b"\\" * self.random.randint(1, 4))
        content = b"".join(parts)
        return content.decode("latin-1").encode("utf-16") if self.is_so(0.01) else content

    def _line(self) -> bytes:
        kind = self.random.random()
        if kind < 0.15:
            comment = self.of((b"#", b"!", b" #", b"\t!", b"\f# ")) + self._words()
            return comment + (self._setting() if self.is_so(0.3) else b"") + b"\\" * self.random.choice((0, 0, 0, 1, 2))
        if kind < 0.2:
            return self.random.randbytes(self.random.randint(0, 30))
        if kind < 0.25:
            return self.of(_BLANKS)
        return self._setting()

    def _words(self) -> bytes:
        word = self.random.choice(_WORDS)
        return word.encode("gb18030" if self.is_so(0.3) else "utf-8")

    def _setting(self) -> bytes:
        key, kind = self.random.choice(self.judged if self.is_so(0.6) else self.keys)
        if self.is_so(0.15):
            key = self.of(_ODD_KEYS)
        return self.of(_BLANKS) + key + self.of(_SEPARATORS) + self._goes_on(self._value(kind))

    def _value(self, kind: str) -> bytes:
        if self.is_so(0.004):
            return self.of((b"\\u12", b"\\uzzzz", b"D:\\users", b"\\u", b"\\u00g0", b"a\\u"))
        if self.is_so(0.1):
            return self._words() + self.of((b"", b" ", b"\\", b"\\\\", b"\\n", b"\\q", b"\x85", b" # x"))
        if kind in {"int", "long"}:
            return self.of(_NUMBERS)
        if kind in {"double", "float"}:
            return self.of(_FRACTIONS + _NUMBERS)
        if kind == "boolean":
            return self.of(_TRUTHS)
        names = tuple(name.encode() for name in kind.split("|"))
        return self.of(names) + self.of((b"", b"", b" ", b"\t ", b"\\u0000", b"x", b"\xa0", b"\\ ", b",/b"))

    def _goes_on(self, value: bytes) -> bytes:
        if not self.is_so(0.15):
            return value
        at = self.random.randint(0, len(value))
        broken = (
            b"\\" * self.random.randint(1, 3)
            + self.of(_ENDS)
            + self.of(_BLANKS)
            + self.of((b"", b"", b"#", b"!", b"="))
        )
        return value[:at] + broken + value[at:]


def generated_files(count: int, seed: int) -> list[bytes]:
    """So many files; the same for the same seed."""
    draw = _Draw(seed)
    return [draw.file() for _ in range(count)]
