"""``halfcheck audit`` on a terminal: what is wrong comes first, with what to do, and no width cuts what is said."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from conformance.golden_stores import golden_store
from halfcheck import app
from halfcheck.errors import ExitCode
from spark_trace_analysis.audit.audit import SCHEMA
from spark_trace_analysis.audit.rules.advice import advice

if TYPE_CHECKING:
    from pathlib import Path

LATE = golden_store("5.3.3", "late").path
IMMUNITY = golden_store("5.5.1", "immunity").path
IN_5_3_3 = golden_store("5.3.3", "immunity").path
STATES = {"doubled", "parked", "delivered"}
BY_5_3_3 = "5.3.1 has no profile: it is judged by 5.3.3, which stands for 5.1.0 to 5.3.3"


def lines_of(
    *arguments: str | Path, width: int | None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> list[str]:
    """What a command prints into a pipe, as wide as COLUMNS says."""
    monkeypatch.setenv("COLUMNS", "" if width is None else str(width))
    app.run(list(map(str, arguments)))
    return capfd.readouterr().out.splitlines()


def test_what_became_of_transactions_comes_first_the_gravest_before_others_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of("audit", LATE, width=None, monkeypatch=monkeypatch, capfd=capfd)
    told = [line for line in lines[: lines.index("")] if not line.startswith(" ")]
    assert [re.sub(r"C0\w{26}", "…", line) for line in told] == [
        "1 doubled (A13): …0000",
        "1 doubled and parked (A14): …0004",
        "1 doubled and parked (A11): …0005",
        "1 parked and delivered (A14): …0006",
        "1 delivered and rolled_back: …0001",
        "1 delivered and rolled_back (A12): …0002",
    ]
    said = " ".join(" ".join(lines).split())
    assert f"0000 {advice('doubled', ('A13',))} 1 doubled and parked" in said
    assert f"0001 {advice('delivered', (), ('rolled_back',))} 1 delivered" in said


def test_checks_that_nothing_answers_are_counted_by_group_with_who_may_be_the_reason(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    store = golden_store("5.3.3", "five").path
    lines = lines_of("audit", store, width=None, monkeypatch=monkeypatch, capfd=capfd)
    (at,) = [number for number, line in enumerate(lines) if "neither a commit nor a rollback came" in line]
    assert lines[at].startswith("15 checks of g5 were counted, and ")
    assert "rocketmq-client-go" in " ".join(lines[at + 1 : at + 3])


@pytest.mark.parametrize(("limit", "named", "lines"), [(0, "none is", 0), (2, "the 2 gravest are", 2)])
def test_what_a_limit_leaves_out_is_counted_and_not_called_well(
    limit: int, named: str, lines: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    told = lines_of("audit", LATE, "--limit", str(limit), width=None, monkeypatch=monkeypatch, capfd=capfd)
    assert told[0] == f"6 transactions are not plainly delivered or rolled back; {named} named (--limit)"
    assert sum(line.startswith("1 doubled") for line in told) == lines
    assert not any("Nothing is" in line for line in told)


def test_where_nothing_is_wrong_the_first_line_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    store = golden_store("5.5.1", "gone").path
    lines = lines_of("audit", store, width=None, monkeypatch=monkeypatch, capfd=capfd)
    assert lines[0] == "Nothing is lost, doubled, parked or pending."
    assert lines[-1] == "trace: accepted by the specification of 5.5.1 with no fault"


def test_where_nothing_tells_releases_apart_the_last_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    store = shutil.copytree(golden_store("5.5.1", "gone").path, tmp_path / "store")
    (store / "config/consumerOrderInfo.json").unlink()
    lines = lines_of("audit", store, width=None, monkeypatch=monkeypatch, capfd=capfd)
    assert lines[-1] == "no record tells 5.4.0 to 5.5.1 apart: 5.4.0, 5.5.0 and 5.5.1 were asked in turn"


@pytest.mark.parametrize("width", [200, 120, 80, 75, 60, 40])
def test_no_width_cuts_a_state_or_makes_transactions_look_alike(
    width: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of("audit", LATE, width=width, monkeypatch=monkeypatch, capfd=capfd)
    assert max(map(len, lines)) <= width
    table = lines[lines.index("") :]
    keys = [line.split()[0] for line in table if line.startswith("C0")]
    assert len(set(keys)) == 7
    states = re.findall(r"(?:^C0\S+|^    state) +(?:late-group +TopicLate +)?(\w+)", "\n".join(table), re.MULTILINE)
    assert (len(states), set(states)) == (7, STATES)
    is_whole = all(len(key) == 32 for key in keys)
    assert is_whole is (width not in (80, 75))
    assert ("…" in "".join(lines)) is not is_whole


def refused(folder: Path) -> Path:
    """A store whose broker had another maximum of checks than its broker.conf says."""
    store = folder / "store"
    shutil.copytree(golden_store("5.3.3", "forever").path, store, ignore=shutil.ignore_patterns("*.gz"))
    conf = store / "broker.conf"
    conf.write_text(conf.read_text().replace("transactionCheckMax=15", "transactionCheckMax=5"))
    return store


def test_a_refusal_is_told_in_an_operators_words_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    store = refused(tmp_path)
    lines = lines_of("audit", store, width=None, monkeypatch=monkeypatch, capfd=capfd)
    at = lines.index("The specification of 5.3.3 does not explain the store; why stands below.")
    assert at < lines.index("")
    assert lines[at + 1].endswith("so look at the transaction of this record first.")
    assert "--version RELEASE" in lines[at + 2]
    assert f"read from {store / 'broker.conf'}" in lines[at + 3]
    assert "report it" in lines[at + 4]
    assert app.run(["audit", str(store), "--json"]) == ExitCode.OK
    content: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert not list(Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).iter_errors(content))
    assert content["trace"]["advice"] == [line.strip() for line in lines[at + 1 : at + 5]]
    (store / "broker.conf").unlink()
    lines = lines_of("audit", store, "--version", "5.2.0", width=None, monkeypatch=monkeypatch, capfd=capfd)
    assert (
        "    The settings were guessed, its defaults were taken: put its broker.conf into the store or beside it."
        in lines
    )


def test_a_release_without_a_profile_says_by_which_one_it_is_judged(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of("audit", IN_5_3_3, "--version", "5.3.1", width=None, monkeypatch=monkeypatch, capfd=capfd)
    assert BY_5_3_3 in lines
    assert "37 records, written by 5.3.1" in lines
    lines = lines_of("diff", IN_5_3_3, "spec:5.3.1", width=None, monkeypatch=monkeypatch, capfd=capfd)
    assert lines[1:] == [BY_5_3_3]
    assert app.run(["diff", str(IN_5_3_3), "spec:5.3.1+heeds_settled_originals", "--json"]) == ExitCode.SAFETY_VIOLATED
    trace = json.loads(capfd.readouterr().out)["trace"]
    assert (trace["profile"], trace["why_profile"]) == ("5.3.3+heeds_settled_originals", BY_5_3_3)
    for words in (["audit", str(IN_5_3_3), "--version", "4.1.0"], ["diff", str(IN_5_3_3), "spec:4.1.0"]):
        assert app.run(words) == ExitCode.BAD_OPTION
        assert "no release '4.1.0'; expected one such as 4.5.1" in capfd.readouterr().err


def test_a_long_answer_of_diff_is_folded_where_the_width_is_known_and_one_line_where_it_is_not(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    five = golden_store("5.3.3", "five").path
    wide = lines_of("diff", five, "spec:4.9.7", width=None, monkeypatch=monkeypatch, capfd=capfd)
    narrow = lines_of("diff", five, "spec:4.9.7", width=60, monkeypatch=monkeypatch, capfd=capfd)
    assert (len(wide), max(map(len, narrow)) <= 60) == (1, True)
    assert "".join(" ".join(narrow).split()) == "".join(wide[0].split())


def test_a_version_that_the_store_contradicts_is_noted(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def notes(*words: str) -> list[str]:
        lines = lines_of("audit", IMMUNITY, *words, width=None, monkeypatch=monkeypatch, capfd=capfd)
        return [line for line in lines if line.startswith("note: ")]

    for version in ("5.4.0", "5.5.0"):
        assert notes("--version", version) == [f"note: it looks like a store of 5.5.1, and --version names {version}"]
    assert (notes("--version", "5.5.1"), notes()) == ([], [])


def test_the_page_says_what_to_do_about_a_refusal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "audit.html"
    assert app.run(["audit", str(refused(tmp_path)), "--report", str(page), "--json"]) == ExitCode.OK
    advice_on_trace = json.loads(capfd.readouterr().out)["trace"]["advice"]
    text = unescape(page.read_text(encoding="utf-8"))
    assert advice_on_trace
    assert [line for line in advice_on_trace if line not in text] == []
