"""What a digest of bytecode passes over, and what it notices; the reader of class files beside the JDK's."""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from conformance.errors import ReleaseGateError
from conformance.release_gate.class_file import read_class
from conformance.release_gate.digests import Classes
from tests.conformance.made_class import RETURN, MadeClass, jar

if TYPE_CHECKING:
    from collections.abc import Callable

OWNER = "org/apache/rocketmq/broker/Owner"


def plain(made: MadeClass, text: str = "a") -> MadeClass:
    """A class with one method, `run`, that says something."""
    return made.method("run", made.text(text) + made.call("org/apache/rocketmq/logging/Log", "info") + RETURN)


def with_lambda(number: int, text: str = "a") -> dict[str, MadeClass]:
    made = MadeClass(OWNER)
    made.method("run", made.call(OWNER, f"lambda$run${number}") + RETURN)
    made.method(f"lambda$run${number}", made.text(text) + RETURN)
    return {OWNER: made}


def with_anonymous(number: int, text: str = "a") -> dict[str, MadeClass]:
    inner = plain(MadeClass(f"{OWNER}${number}"), text)
    inner.method("<init>", RETURN)
    made = MadeClass(OWNER)
    made.method("run", made.create(f"{OWNER}${number}") + RETURN)
    return {OWNER: made, f"{OWNER}${number}": inner}


def digest(folder: Path, classes: dict[str, MadeClass], name: str = "Owner#run") -> str:
    return Classes([jar(folder / f"{len(list(folder.iterdir()))}.jar", classes)]).digest(name)


@pytest.mark.parametrize("name", ["Owner", "Owner#run"])
@pytest.mark.parametrize(
    "same",
    [
        lambda: {OWNER: plain(MadeClass(OWNER, filler=3, line=7))},
        lambda: {OWNER: plain(MadeClass(OWNER, filler=400))},
        lambda: {OWNER.replace("broker", "store"): plain(MadeClass(OWNER.replace("broker", "store")))},
    ],
    ids=["other lines and numbers of constants", "a wide ldc", "another package"],
)
def test_what_a_compiler_chooses_is_passed_over(
    tmp_path: Path, name: str, same: Callable[[], dict[str, MadeClass]]
) -> None:
    assert digest(tmp_path, {OWNER: plain(MadeClass(OWNER))}, name) == digest(tmp_path, same(), name)


@pytest.mark.parametrize("kind", [with_lambda, with_anonymous])
@pytest.mark.parametrize("name", ["Owner", "Owner#run"])
def test_what_is_set_apart_counts_where_it_is_used_whatever_its_number(
    tmp_path: Path, name: str, kind: Callable[..., dict[str, MadeClass]]
) -> None:
    first, other_number, other_text = (
        digest(tmp_path, classes, name) for classes in (kind(0), kind(3), kind(0, text="b"))
    )
    assert first == other_number
    assert first != other_text


def test_a_digest_notices_a_constant_a_flag_and_a_field(tmp_path: Path) -> None:
    first = digest(tmp_path, {OWNER: plain(MadeClass(OWNER))})
    assert first != digest(tmp_path, {OWNER: plain(MadeClass(OWNER), "b")})
    synchronized = MadeClass(OWNER)
    code = synchronized.text("a") + synchronized.call("org/apache/rocketmq/logging/Log", "info") + RETURN
    assert first != digest(tmp_path, {OWNER: synchronized.method("run", code, flags=0x29)})
    with_field = plain(MadeClass(OWNER))
    with_field.field("interval", "I", 3)
    assert first == digest(tmp_path, {OWNER: with_field})
    assert digest(tmp_path, {OWNER: plain(MadeClass(OWNER))}, "Owner") != digest(tmp_path, {OWNER: with_field}, "Owner")


def test_a_name_that_is_not_there_has_no_digest(tmp_path: Path) -> None:
    classes = {OWNER: plain(MadeClass(OWNER))}
    assert [digest(tmp_path, classes, name) for name in ("Owner#stop", "Other", "Other#run")] == ["", "", ""]


def test_defaults_are_read_as_constants_and_out_of_initialisers(tmp_path: Path) -> None:
    made = MadeClass(OWNER)
    made.field("LIMIT", "I", 60_000)
    for name in ("checks", "interval", "isOn", "other"):
        made.field(name, "I")
    pushed = {"checks": b"\x10\x0f", "interval": b"\x11\x17\x70", "isOn": b"\x04"}
    code = b"".join(push + made.put(OWNER, name, "I") for name, push in pushed.items())
    made.method("<clinit>", code + made.call(OWNER, "given") + made.put(OWNER, "other", "I") + RETURN)
    classes = Classes([jar(tmp_path / "a.jar", {OWNER: made})])
    fields = ("LIMIT", "checks", "interval", "isOn", "other", "missing")
    assert [classes.initial_value("Owner", each) for each in fields] == [60_000, 15, 6_000, 1, None, None]


@pytest.mark.parametrize("broken", [b"", b"\xca\xfe\xba\xbe", MadeClass(OWNER).content()[:-3], b"PK\x03\x04 no class"])
def test_what_is_no_class_file_is_refused_in_one_line(broken: bytes) -> None:
    with pytest.raises(
        ReleaseGateError, match=r"^some\.jar: Owner: not a class file that can be read \(.*\); remove its"
    ):
        read_class(broken, "some.jar: Owner")


def test_a_broken_jar_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jar").write_bytes(b"no jar")
    with pytest.raises(
        ReleaseGateError, match=r"a\.jar: not a jar that can be read .*; remove .* to have it fetched anew"
    ):
        Classes([tmp_path / "a.jar"])


def test_the_reader_finds_what_javap_prints() -> None:
    """Each method of a real class: how many instructions, which members they name, and where jumps go."""
    archive = next((Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar"))
    read = read_class(zipfile.ZipFile(archive).read("py4j/reflection/ReflectionEngine.class"))
    home = os.environ.get("JAVA_HOME")
    command = [f"{home}/bin/javap" if home else "javap", "-c", "-p", "-cp", str(archive), read.name.replace("/", ".")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    methods = printed.split("    Code:\n")[1:]
    assert len(read.methods) == len(methods)
    for method, text in zip(read.methods, methods, strict=True):
        lines = re.findall(r"^ *(\d+): (\w+) *(.*)$", text.partition("Exception table")[0], re.MULTILINE)
        starts = {int(at): number for number, (at, _, _) in enumerate(lines)}
        assert len(lines) == len(method.code)
        for (_, mnemonic, rest), token in zip(lines, method.code, strict=True):
            if mnemonic.startswith(("if", "goto")):
                assert token[1:] == (starts[int(rest)],)
            elif mnemonic.startswith("invoke"):
                named = token[1]
                assert isinstance(named, tuple)
                disassembled = rest.partition("// ")[2].partition(" ")[2].replace('"', "")
                assert disassembled in {f"{named[1]}.{named[2]}:{named[3]}", f"{named[2]}:{named[3]}"}
