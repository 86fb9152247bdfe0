"""What a broker makes of a value: what MixAll of real releases made of hundreds, and the least cases by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import real_brokers.broker_conf
from reference.format.broker_keys import Key, keys_of
from reference.format.setting_values import Value, value_of

VECTORS = json.loads(
    (Path(real_brokers.broker_conf.__file__).parent / "mixall_vectors.json").read_text(encoding="utf-8")
)


def shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_values_are_those_that_mixall_of_real_releases_has_set() -> None:
    wrong = []
    for release, name, text, field in VECTORS:
        key = keys_of(release)[name]
        value = value_of(key, text, release)
        if field is None:
            is_right = value is None or not key.default or shown(value) == key.default
        else:
            is_right = value is not None and (
                float(field.replace("Infinity", "inf")) == value if isinstance(value, float) else shown(value) == field
            )
        wrong += [] if is_right else [(release, name, text, field, value)]
    assert wrong == []
    assert len({release for release, *_ in VECTORS}) == 4
    assert sum(field is None for *_, field in VECTORS) > 100
    assert sum(field is not None for *_, field in VECTORS) > 50


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("int", "60s", None),
        ("int", "20000 # twenty", None),
        ("int", "29*1000", None),
        ("long", "6000.0", None),
        ("int", "6000 ", None),
        ("int", "", None),
        ("int", "+7", 7),
        ("int", "-0", 0),
        ("int", "+ 7", None),
        ("int", "--7", None),
        ("int", "\uff11\u0662", 12),
        ("int", "\ud835\udfce", None),
        ("int", "\U0001d7ce", None),
        ("int", "2147483648", None),
        ("long", "2147483648", 2147483648),
        ("long", "-9223372036854775808", -(2**63)),
        ("long", "1_000", None),
        ("boolean", "TRUE", True),
        ("boolean", "true ", False),
        ("boolean", "yes", False),
        ("double", " 1e3 ", 1000.0),
        ("double", "0x1.8p1d", 3.0),
        ("double", "1e400", math.inf),
        ("double", "inf", None),
        ("float", "0.1f", 0.10000000149011612),
        ("float", "-1e39", -math.inf),
        ("A|B", "B", "B"),
        ("A|B", "b", None),
        ("A|B|int", "1", "B"),
        ("A|B|int", "7", "A"),
        ("A|B|int", "C", None),
    ],
)
def test_a_text_is_read_by_the_type_of_the_setter(kind: str, text: str, expected: Value | None) -> None:
    assert value_of(Key("name", kind, ""), text, "5.3.3") == expected


def test_from_5_2_0_on_blanks_around_a_word_count_for_nothing() -> None:
    for kind, swallowed in (("String", "a \t"), ("A|B", None)):
        key, text = Key("name", kind, ""), {"String": "a \t", "A|B": "A "}[kind]
        assert value_of(key, text, "5.1.4") == swallowed
        assert value_of(key, text, "5.2.0") == value_of(key, text, None) == text.strip()


def test_two_setters_of_5_x_change_the_number() -> None:
    precision, port = (Key(name, "int", "") for name in ("timerPrecisionMs", "haListenPort"))
    assert [value_of(precision, text, "5.3.3") for text in ("1", "499", "5000")] == [100, 200, 1000]
    assert (value_of(port, "-1", "5.3.3"), value_of(port, "-1", "4.9.7")) == (0, -1)
