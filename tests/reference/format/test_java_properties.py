"""A file is read as the JDK reads it: some by hand, hundreds of generated ones held against `java.util.Properties`."""

from __future__ import annotations

import pytest

from conformance.errors import ConformanceError
from real_brokers.broker_conf.generated_files import generated_files
from real_brokers.broker_conf.java_side import ask_java, differences, own_settings
from reference.format.errors import BrokenConfigError
from reference.format.java_properties import Setting, read_properties


def read(data: bytes) -> list[tuple[str, str]]:
    return [(one.key, one.value) for one in read_properties("broker.conf", data)]


BY_HAND = [
    ("# 生产者transactionTimeOut=20000\nbrokerName=a\n".encode(), [("brokerName", "a")]),
    ("# 配置者: 全部关闭\n! ✅\n".encode(), []),
    (b"a=1\x0b2\x1c3\x1d4\x1e5\x856\xa07", [("a", "1\x0b2\x1c3\x1d4\x1e5\x856\xa07")]),
    (b"a=1\rb=2\r\nc=3\nd", [("a", "1"), ("b", "2"), ("c", "3"), ("d", "")]),
    (b" \t\fa : b \n\x0bc=d", [("a", "b "), ("\x0bc", "d")]),
    (b"a=1\\\n  2\\\\\nb=\\\\\\\n# c", [("a", "12\\"), ("b", "\\# c")]),
    (b"# a\\\nb=c", [("b", "c")]),
    (b"\\ a\\=\\::b\\t\\q", [(" a=:", "b\tq")]),
    (b"a\\u0062=\\u4e2d", [("ab", "\u4e2d")]),
    (b"=5\na==b\nc = = d", [("", "5"), ("a", "=b"), ("c", "= d")]),
    (b"\xef\xbb\xbfa=1", [("\xef\xbb\xbfa", "1")]),
    (b"\\\n#a=b", []),
    (b"\\", [("", "")]),
    (b"\\\r\n", []),
]


@pytest.mark.parametrize(("data", "expected"), BY_HAND)
def test_lines_keys_and_values_are_cut_where_java_cuts_them(data: bytes, expected: list[tuple[str, str]]) -> None:
    assert read(data) == expected


def test_the_line_of_a_setting_is_that_of_an_editor() -> None:
    data = "# 关\x85\r\na=1\\\r\n\r\n\rb=2".encode()
    assert list(read_properties("broker.conf", data)) == [Setting(3, "a", "1"), Setting(5, "b", "2")]


@pytest.mark.parametrize("text", ["\\u12", "\\uzzzz", "D:\\users", "x\\u00g0"])
def test_an_escape_without_four_digits_is_named_with_its_line(text: str) -> None:
    with pytest.raises(BrokenConfigError, match=r"broker\.conf, line 2: .* the broker does not start"):
        read(f"a=b\nstorePathRootDir={text}\n".encode())


def test_these_and_generated_files_are_read_as_the_jdk_reads_them() -> None:
    files = [*(data for data, _ in BY_HAND), *generated_files(600, seed=47)]
    answers = ask_java(files)
    assert [one for file, answer in zip(files, answers, strict=True) for one in differences(file, answer, None)] == []
    assert sum(answer is None for answer in answers) > 10
    assert sum(len(answer) for answer in answers if answer is not None) > 2_000
    assert {own_settings(file) is None for file in files} == {True, False}


def test_the_jdk_of_java_home_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(ConformanceError, match=r"^no java at /nowhere/bin/java: a JDK 17 or newer is wanted"):
        ask_java([b"a=b"])
