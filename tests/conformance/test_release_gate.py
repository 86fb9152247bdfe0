"""What the gate for releases says: what changed, who speaks of it, and which claims and readings are wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.errors import ConformanceError, MavenError, ReleaseGateError
from conformance.release_gate import __main__ as gate
from conformance.release_gate import claims, comparison
from conformance.release_gate.cited import cited
from conformance.release_gate.claims import wrong_claims
from conformance.release_gate.comparison import compared, differences, stale_evidence, without_digest
from conformance.release_gate.digests import Classes
from conformance.release_gate.jars import ARTIFACTS, jars_of, published_releases
from conformance.release_gate.recorded import (
    Column,
    Evidence,
    read_digests,
    read_evidence,
    read_keys,
    write_digests,
    write_keys,
)
from model_check import releases
from model_check.defects.catalogue import catalogue
from spec.releases import broker_defaults
from spec.releases.broker_defaults import DEFAULTS
from tests.conformance.made_class import RETURN, MadeClass, jar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CHECK = "TransactionalMessageServiceImpl#check"
OWNER = "org/apache/rocketmq/broker/transaction/queue/TransactionalMessageServiceImpl"


@pytest.fixture
def columns() -> dict[str, Column]:
    return read_digests()


def changed(columns: dict[str, Column], name: str, digest: str) -> dict[str, Column]:
    """The columns, and behind them a release in which one name has another digest."""
    newest = list(columns.values())[-1]
    return {**columns, "5.5.9": replace(newest, digests={**newest.digests, name: digest})}


# What is kept


def test_what_is_kept_holds_and_the_page_shows_it(columns: dict[str, Column]) -> None:
    evidence = read_evidence()
    assert without_digest(columns) == [], "make releases ARGS=--update"
    assert wrong_claims(columns) == []
    assert stale_evidence(columns, evidence) == []
    assert comparison.PAGE.read_text(encoding="utf-8") == comparison.page(columns, evidence), (
        "make releases ARGS=--update"
    )


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    written = {
        "4.3.0": Column({"A": "1", "B": ""}, {"x": 3}),
        "4.3.1": Column({"A": "1", "B": "2"}, {"x": 3}),
        "5.10.0": Column({"A": "", "B": "3"}, {"x": 0, "y": 1}),
    }
    write_digests(written, tmp_path / "digests.toml")
    lines = (tmp_path / "digests.toml").read_text().splitlines()
    assert '"A" = ["4.3.0 1", "5.10.0"]' in lines
    assert '"x" = ["4.3.0 3", "5.10.0 0"]' in lines
    found = read_digests(tmp_path / "digests.toml")
    assert [column.defaults for column in found.values()] == [column.defaults for column in written.values()]
    for release, column in found.items():
        assert {name: column.digests.get(name, "") for name in "AB"} == written[release].digests


@pytest.mark.parametrize(("content", "complaint"), [(None, "can't be read"), ("[", "not TOML"), ("a = 1", "not as")])
def test_what_can_not_be_read_is_told_in_one_line(tmp_path: Path, content: str | None, complaint: str) -> None:
    path = tmp_path / "kept.toml"
    if content is not None:
        path.write_text(content)
    for read in (read_digests, read_evidence):
        with pytest.raises(ReleaseGateError, match=f"^{path}: {complaint}"):
            read(path)


# What changed


def test_a_changed_digest_is_named_with_all_who_speak_of_it(columns: dict[str, Column]) -> None:
    found = compared(changed(columns, CHECK, "0123456789ab"), read_evidence(), "5.5.9")
    assert (found.before, found.must_be_looked_at) == (list(columns)[-1], True)
    (change,) = found.without_evidence
    assert change.name == CHECK
    assert "check_round.pass_settled_half" in change.speakers.specification
    assert "check_round" in change.speakers.reference
    assert "A19" in change.speakers.catalogue
    assert "equal_age_is_young" in change.speakers.switches


def test_a_reading_is_evidence_for_its_digest_alone(columns: dict[str, Column]) -> None:
    read = Evidence(("5.3.3",), "5.5.0", {CHECK: {"0123456789ab": "logs more"}})
    known = compared(changed(columns, CHECK, "0123456789ab"), read, "5.5.9")
    assert [(change.name, change.evidence) for change in known.changes] == [(CHECK, "logs more")]
    assert known.without_evidence == ()
    other = changed(columns, CHECK, "ba9876543210")
    assert [change.name for change in compared(other, read, "5.5.9").without_evidence] == [CHECK]
    assert stale_evidence(other, read) == [
        f"the reading of {CHECK} is for 0123456789ab, which no release has: “logs more”"
    ]
    back = changed(columns, CHECK, columns["5.3.3"].digests[CHECK])
    assert [change.evidence for change in compared(back, read, "5.5.9").changes] == ["as in 5.3.3"]


def test_a_kept_digest_and_a_default_that_are_not_those_of_the_jar_are_named(columns: dict[str, Column]) -> None:
    kept_of = columns["5.4.0"]
    broken = {"5.4.0": Column({**kept_of.digests, CHECK: "0"}, {**kept_of.defaults, "transactionCheckMax": 5})}
    assert differences(columns, {"5.4.0": kept_of}) == []
    assert differences(columns, broken) == [
        f"{CHECK} of 5.4.0 is 0, and kept as {kept_of.digests[CHECK]}",
        "transactionCheckMax of 5.4.0 is 5, and kept as 15",
    ]


# Wrong claims


@pytest.mark.parametrize(
    ("turned", "complaint"),
    [
        (("5.3.0", "5.3.2", "+equal_age_is_young"), "the switch equal_age_is_young turns between 5.2.0 and 5.3.0, but"),
        (("5.1.0", "5.1.1", "-refuses_late_end"), "the switch refuses_late_end turns between 5.1.1 and 5.1.3, but"),
    ],
)
def test_a_switch_that_turns_in_a_wrong_release_is_refused(
    columns: dict[str, Column], monkeypatch: pytest.MonkeyPatch, turned: tuple[str, str, str], complaint: str
) -> None:
    monkeypatch.setattr(releases, "TURNED", (*releases.TURNED, turned))
    assert any(claim.startswith(complaint) for claim in wrong_claims(columns))


def test_a_default_of_a_wrong_release_is_refused(columns: dict[str, Column], monkeypatch: pytest.MonkeyPatch) -> None:
    moved = [each._replace(since=(("4.3.0", 15),)) if each.name == "transactionCheckMax" else each for each in DEFAULTS]
    monkeypatch.setattr(broker_defaults, "DEFAULTS", tuple(moved))
    claim = "transactionCheckMax of 4.3.0 is 15 by spec/releases/broker_defaults.py, 5 in its class"
    assert wrong_claims(columns) == [claim]


def test_a_repair_in_a_wrong_release_and_a_name_that_is_nowhere_are_refused(
    columns: dict[str, Column], monkeypatch: pytest.MonkeyPatch
) -> None:
    late = {**catalogue(), "A19": replace(catalogue()["A19"], fixed="5.4.0")}
    monkeypatch.setattr(claims, "catalogue", lambda: late)
    speakers = cited()[CHECK]
    monkeypatch.setattr(claims, "cited", lambda: {**cited(), "Nowhere#at": speakers})
    nameless, repaired = wrong_claims(columns)
    assert nameless.startswith("Nowhere#at is in no release; ")
    assert repaired.startswith("A19 is repaired in 5.4.0, but there none of ")


# The command


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: dict[str, Column]) -> Path:
    """Copies of what the command writes; jars of two releases, of which only one is kept; nothing else is cited."""
    names = {CHECK: cited()[CHECK]}
    for module in (gate, comparison, claims):
        if hasattr(module, "cited"):
            monkeypatch.setattr(module, "cited", lambda: names)
    monkeypatch.setattr(comparison, "default_fields", lambda: iter(()))
    monkeypatch.setattr(gate, "wrong_claims", lambda _: [])
    folder = tmp_path / "cache"
    monkeypatch.setenv("HALFCHECK_CACHE", str(folder))
    for release, said in (("5.5.1", "a"), ("5.5.2", "b")):
        made = MadeClass(OWNER)
        made.method("check", made.text(said) + RETURN)
        jar(folder / "releases" / release / f"{ARTIFACTS[0]}-{release}.jar", {OWNER: made})
        (folder / "releases" / release / "artifacts.txt").write_text("\n".join(ARTIFACTS))
    monkeypatch.setattr(gate, "read_digests", lambda: read_digests(tmp_path / "digests.toml"))
    monkeypatch.setattr(gate, "write_digests", lambda columns: write_digests(columns, tmp_path / "digests.toml"))
    monkeypatch.setattr(gate, "read_keys", lambda: read_keys(tmp_path / "keys.json"))
    monkeypatch.setattr(gate, "write_keys", lambda keys: write_keys(keys, tmp_path / "keys.json"))
    monkeypatch.setattr(gate, "read_evidence", lambda: Evidence(("5.4.0",), "5.5.0", {}))
    monkeypatch.setattr(gate, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(gate, "published_releases", lambda: ["5.5.1"])
    found = comparison.column_of(Classes(jars_of(["5.5.1"])["5.5.1"]))
    write_digests({"5.5.1": found}, tmp_path / "digests.toml")
    write_keys({"5.5.1": {}}, tmp_path / "keys.json")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = gate.main(arguments)
    printed = capsys.readouterr()
    assert not printed.err
    return code, printed.out


def test_a_new_release_is_one_command_from_what_must_be_looked_at(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys) == (0, f"5.5.1, judged by {judged('5.5.1')}: nothing is kept of a release before it\n")
    code, out = run(capsys, "5.5.2")
    assert code == 255
    assert (
        f"5.5.2, judged by {judged('5.5.2')}: 1 of 1 cited names changed since 5.5.1, and of 1 nothing is known" in out
    )
    assert f"  {CHECK}\n" in out
    assert "  specification\n" in out
    assert f"    check_round.pass_settled_half: {CHECK}\n" in out
    assert f"  switches\n    equal_age_is_young: {CHECK}\n" in out
    assert "evidence.toml" in out.splitlines()[-1]
    printed = json.loads(run(capsys, "5.5.2", "--json")[1])
    assert [change["name"] for change in printed["releases"][0]["changes"]] == [CHECK]
    assert list(read_digests(project / "digests.toml")) == ["5.5.1"]


def test_an_update_keeps_the_release_and_writes_the_page(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "5.5.2", "--update")[0] == 255
    found = read_digests(project / "digests.toml")
    assert list(found) == ["5.5.1", "5.5.2"]
    assert found["5.5.1"].digests[CHECK] != found["5.5.2"].digests[CHECK]
    assert "## 5.5.2 beside 5.5.1" in (project / "page.md").read_text()
    assert not list(project.glob("*.new"))


def test_a_changed_jar_and_a_release_that_nobody_knows_are_told(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = MadeClass(OWNER)
    jar(project / "cache" / "releases" / "5.5.1" / f"{ARTIFACTS[0]}-5.5.1.jar", {OWNER: made.method("check", RETURN)})
    monkeypatch.setattr(gate, "published_releases", lambda: ["5.5.1", "5.5.2"])
    code, out = run(capsys)
    assert code == 255
    assert "Maven has 5.5.2, of which nothing is kept: make releases ARGS=5.5.2" in out
    assert f"{CHECK} of 5.5.1 is " in out


def test_a_key_of_broker_conf_that_a_jar_does_not_have_is_told_until_it_is_updated(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_keys({"5.5.1": {"transactionTimeOut": "long 6000"}}, project / "keys.json")
    code, out = run(capsys)
    assert code == 255
    assert "the key transactionTimeOut of 5.5.1 is not there, and kept as long 6000; make releases ARGS=--update" in out
    run(capsys, "--update")
    assert run(capsys)[0] == 0


def judged(release: str) -> str:
    return releases.profile_for(release, with_switches=True)[0]


@pytest.mark.parametrize("name", ["5.5", "4.2.0", "newest"])
def test_what_is_no_release_is_refused(project: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert gate.main([name]) == 151
    assert capsys.readouterr().err == f"no release {name!r}; expected three numbers from 4.3.0 on, such as 5.5.1\n"


def test_a_reader_that_goes_away_is_no_failure(project: Path) -> None:
    command = "from conformance.release_gate import __main__ as gate; gate.find = lambda *_, **__: gate.Findings("
    command += "(), ('5.5.2',) * 9999, (), (), (), ()); raise SystemExit(gate.main([]))"
    with subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


# Maven


def maven(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put an ``mvn`` on the path; ``$pom`` is the file that it is given."""
    folder.mkdir()
    (folder / "mvn").write_text(f"#!/bin/sh\necho >> {folder}/calls\npom=$3\n{script}\n")
    (folder / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


BRINGS: Sequence[str] = (
    'cd "${pom%/*}/.."',
    "for release in [0-9]*; do touch $release/rocketmq-broker-$release.jar; done",
    "touch 5.5.0/rocketmq-client-5.5.0.jar",
    "echo '[ERROR] Failed to execute goal copy: Could not find artifact rocketmq-client:5.5.1'; exit 0",
)


def test_jars_come_once_and_what_was_not_published_is_that_of_the_release_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALFCHECK_CACHE", str(tmp_path / "cache"))
    maven(tmp_path / "bin", "\n".join(BRINGS), monkeypatch)
    for _ in range(2):
        found = jars_of(["5.5.0", "5.5.1"])
    assert [path.name for path in found["5.5.1"]] == ["rocketmq-broker-5.5.1.jar", "rocketmq-client-5.5.0.jar"]
    assert (tmp_path / "bin" / "calls").read_text() == "\n"
    assert sorted(path.name for path in (tmp_path / "cache" / "releases").iterdir()) == ["5.5.0", "5.5.1"]


@pytest.mark.parametrize(
    ("script", "code", "complaint"),
    [
        (
            "echo '[ERROR] Failed to execute goal copy: Could not transfer artifact: Unknown host'; exit 0",
            150,
            "the jars of RocketMQ can't be fetched: mvn says [ERROR] Failed to execute goal copy: Could not transfer",
        ),
        ("exit 0", 151, "Maven knows no org.apache.rocketmq:rocketmq-broker:9.9.9; name a release"),
    ],
)
def test_what_maven_can_not_bring_is_told_in_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, code: int, complaint: str
) -> None:
    monkeypatch.setenv("HALFCHECK_CACHE", str(tmp_path / "cache"))
    maven(tmp_path / "bin", script, monkeypatch)
    with pytest.raises(ConformanceError) as caught:
        jars_of(["9.9.9"])
    assert caught.value.exit_code == code
    assert str(caught.value).startswith(complaint)
    assert list((tmp_path / "cache" / "releases").iterdir()) == []


def test_without_maven_the_command_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "")
    assert gate.main([]) == 150
    assert capsys.readouterr().err == "mvn is not on PATH: the jars of RocketMQ come by Maven 3; install it\n"


def test_an_interruption_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(gate, "find", interrupted)
    assert gate.main([]) == 130
    assert capsys.readouterr().err.startswith("interrupted; what is kept is as it was")


def test_the_releases_are_those_of_mavens_own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = tmp_path / "m2" / "org" / "apache" / "rocketmq" / "rocketmq-broker"
    listed.mkdir(parents=True)
    versions = "".join(f"<version>{one}</version>" for one in ("5.10.0", "4.2.0", "5.0.0-ALPHA", "5.9.0", "4.3.0"))
    (listed / "maven-metadata-central.xml").write_text(f"<metadata>{versions}</metadata>")
    maven(tmp_path / "bin", f"echo {tmp_path}/m2", monkeypatch)
    assert published_releases() == ["4.3.0", "5.9.0", "5.10.0"]


def test_a_list_that_can_not_be_had_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(tmp_path / "bin", "echo '[ERROR] no network'; exit 1", monkeypatch)
    with pytest.raises(MavenError, match=r"can't be fetched: mvn says \[ERROR\] no network$"):
        published_releases()
