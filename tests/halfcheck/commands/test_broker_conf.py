"""`halfcheck conf`: a real file, in words and JSON, and one line for what makes no sense."""

import json
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from model_check.broker_conf import judgement
from model_check.broker_conf.answer import ConfAnswer, check_configuration
from model_check.finding import SCHEMA
from tests.sampled import sampled

FILE = "broker.conf"
VERSIONS_WITH_BATCHES = [
    *("5.1.0", "5.1.1", "5.1.3", "5.1.4", "5.2.0", "5.3.0", "5.3.1", "5.3.2", "5.3.3", "5.3.4", "5.4.0", "5.5.0"),
    "5.5.1",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


ANSWERS: dict[Hashable, ConfAnswer] = {}
"""To the questions that the tests here have asked."""


@pytest.fixture(autouse=True)
def _answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What several tests ask is searched once."""

    def answered(*asked: Any, **question: Any) -> ConfAnswer:
        key = asked, frozenset((name, value) for name, value in question.items() if name != "report")
        if key not in ANSWERS:
            ANSWERS[key] = check_configuration(*asked, **question)
        return ANSWERS[key]

    monkeypatch.setattr(judgement, "check_configuration", answered)


def write(text: str) -> None:
    Path(FILE).write_text(text)


def check(*more: str) -> int:
    return run(["conf", FILE, "--engine", "cpython", *more])


def check_json(capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    check("--json", *more)
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.untraced
def test_a_default_broker_delivers_an_immune_message_twice_and_says_when(capsys: pytest.CaptureFixture[str]) -> None:
    write("brokerName=broker-a\ntransactionTimeout=10000\n")
    words = ("--version", "5.3.3", "--immunity", "60s", "--property", "S1", "--instance", "deep", "--engine", "numba")
    assert check(*words) == ExitCode.SAFETY_VIOLATED
    said = capsys.readouterr()
    assert "transactionTimeOut 6 s; transactionCheckInterval 30 s; transactionCheckMax 15" in said.out
    first = said.out.splitlines()[0]
    assert first.startswith("RocketMQ 5.3.3 with broker.conf, in the quiet world: ")
    assert first.endswith(" are broken, gravest first")
    row = next(line for line in said.out.splitlines() if line.startswith("S1.immune_half "))
    assert " B01 " in row
    assert " 60.001 s " in row
    assert "delivered again after a check: leave CHECK_IMMUNITY_TIME_IN_SECONDS out" in row
    assert said.out.index(row) < said.out.index("S1.immune_half (B01) is broken") < said.out.index("--all lists")
    assert "  30.001 s  half 1 is immune: it is put back as half 2 (check 2)" in said.out
    assert "  60.001 s  the commit for half 3 arrives: transaction 0 is delivered (a second time)" in said.out
    assert "immunity of 1 min=34 in ticks and transactionCheckMax=3 (really 15)" in said.out
    assert said.err == (
        "halfcheck: broker.conf: line 2: transactionTimeout is no setting of 5.3.3, whose broker ignores it; "
        "did you mean transactionTimeOut?\n"
    )


def test_what_holds_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    write("transactionOpBatchInterval=10\n")
    assert check("--version", "5.3.3", "--property", "S9", "--local", "1s") == ExitCode.OK
    said = capsys.readouterr()
    assert "quiet world: none of 11 guarantees is broken\n" in said.out
    assert "--suggest" not in said.out
    assert "local transactions of at most 1 s" in said.out
    assert said.err == ""


def test_what_is_open_is_neither_kept_nor_broken(capsys: pytest.CaptureFixture[str]) -> None:
    write("")
    assert check("--property", "S2", "--max-states", "50") == ExitCode.OTHER
    out = capsys.readouterr().out
    assert "unknown (none is found among" in out
    assert "S2.commit_after_discard" in out
    assert "CUT SHORT" in out
    assert "hold;" not in out


def test_the_defaults_are_those_of_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    write("transactionOpBatchInterval=10\ntransactionCheckMax=5\nfileReservedTime=1\nbrokerRole=SLAVE\n")
    told = check_json(capsys, "--version", "4.9.7", "--property", "S2")
    settings = told["broker_conf"]
    assert settings["transactionCheckInterval"] == 60_000
    assert (settings["transactionCheckMax"], settings["fileReservedTime"]) == (5, 1)
    assert settings["unknown_keys"] == [
        {
            "line": 1,
            "key": "transactionOpBatchInterval",
            "nearest": "transactionCheckInterval",
            "versions": VERSIONS_WITH_BATCHES,
        }
    ]
    assert [remark.split(":")[0] for remark in settings["remarks"]] == ["line 1", "line 3", "line 4"]
    assert told["quotient"]["transactionCheckMax"] == {"real": 5, "scaled": 2}


def test_the_json_keeps_the_shape_of_a_check_and_adds_the_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    write("")
    told = check_json(capsys)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate(told, schema)
    late = told["properties"]["S9"]["clauses"]["late_op"]
    assert [step["milliseconds"] for step in late["schedule"]] == [0, 0, 3001, 6001, 6001]
    assert late["schedule"][3]["words"] == "a check round begins at half 0"
    assert (late["added_rounds"], late["late_round_ms"]) == (0, 0)
    assert told["properties"]["S9"]["replay"] is None
    late["schedule"][0].pop("milliseconds")
    with pytest.raises(jsonschema.ValidationError, match="milliseconds"):
        jsonschema.validate(told, schema)


@pytest.mark.parametrize(
    ("text", "arguments", "expected", "code"),
    [
        ("a=b\nc=\\u12", [], "broker.conf, line 2: 'c=\\\\u12' has a \\u without four hexadecimal digits", 150),
        ("====a:1====\nb=1\n====c:2====\n", [], "it holds the settings of 2 brokers: a:1 (line 1), c:2 (line 3)", 150),
        (
            "",
            ["--version", "4.2.0"],
            "no release '4.2.0'; expected one such as 4.5.1, 4.9.7, 5.3.3, 5.4.0, 5.5.0, 5.5.1",
            151,
        ),
        ("", ["--version", "latest"], "no release 'latest'; expected one such as 4.5.1", 151),
        (
            "transRocksDBEnable=true\ntransWriteOriginTransHalfEnable=false",
            ["--version", "5.5.1"],
            "its halves lie in RocksDB, not in the commit log, and that engine is not modelled; nothing is judged",
            150,
        ),
        ("", ["--immunity", "60"], "--immunity 60: expected a whole number with a unit", 151),
        ("", ["--immunity", "1500ms"], "CHECK_IMMUNITY_TIME_IN_SECONDS is a whole number of seconds", 151),
        ("", ["--local", "soon"], "--local soon: expected a whole number with a unit", 151),
        ("", ["--faults", "fire"], "no fault 'fire'; there are slow_local", 151),
        (
            "",
            ["--faults", "clock_step"],
            "fault clock_step: no broker.conf says how far clocks differ or step back",
            151,
        ),
        ("", ["--version", "fixed"], "no release 'fixed'; expected one such as 4.5.1, 4.9.7, 5.3.3, 5.4.0", 151),
        ("", ["--instance", "huge"], "no instance 'huge'; there are tiny", 151),
        ("", ["--svg", "a.svg"], "No such option: --svg", 151),
        ("", ["--checkpoint", "d"], "No such option: --checkpoint", 151),
        ("", ["--memory", "8G"], "No such option: --memory", 151),
    ],
)
def test_bad_input_gets_one_line_and_its_exit_code(
    text: str, arguments: list[str], expected: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    write(text)
    assert check(*arguments) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert expected in said.err


def test_a_value_that_the_broker_swallows_leaves_the_default_and_is_told_with_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("transactionCheckInterval=60s\n# 生产者transactionTimeOut=20000\ntransactionCheckMax=0\nfileReservedTime=0\n")
    asked = ("--version", "4.9.7", "--property", "S4", "--max-states", "10")
    settings = check_json(capsys, *asked)["broker_conf"]
    jsonschema.validate(check_json(capsys, *asked), json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert (settings["transactionCheckInterval"], settings["transactionTimeOut"]) == (60_000, 6_000)
    assert (settings["transactionCheckMax"], settings["fileReservedTime"]) == (1, 0)
    assert [remark[:64] for remark in settings["remarks"]] == [
        "line 1: transactionCheckInterval is '60s', not a whole number: t",
        "line 3: transactionCheckMax=0: RocketMQ takes it as 1: a half is",
        "line 4: fileReservedTime=0: every half is too old for a check at",
    ]


def test_a_release_without_a_profile_has_the_keys_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    write("enableControllerMode=true\ntimerWheelEnable=false\ntransactionOpBatchInterval=3\n")
    remarks = check_json(capsys, "--version", "5.0.0", "--property", "S4", "--max-states", "10")["broker_conf"][
        "remarks"
    ]
    assert remarks[0].startswith("5.0.0 has no profile")
    assert [remark.partition(":")[0] for remark in remarks[1:]] == ["line 1", "line 3"]
    assert remarks[2] == (
        "line 3: transactionOpBatchInterval is no setting of 5.0.0, whose broker ignores it; "
        "releases from 5.1.0 on have it"
    )


def test_a_key_that_is_given_twice_is_pointed_out(capsys: pytest.CaptureFixture[str]) -> None:
    write("transactionCheckMax=5\n# slower\ntransactionCheckMax=7\ntransactionTimeOut=6000\n")
    assert check("--version", "5.3.3", "--property", "S4", "--engine", "cpython", "--max-states", "10") == 255
    said = capsys.readouterr()
    assert said.err == (
        "halfcheck: broker.conf: line 3: transactionCheckMax stands in line 1 already; "
        "the broker takes the later one, '7'\n"
    )
    assert "transactionCheckMax 7;" in said.out


def test_a_file_without_a_setting_that_a_broker_knows_is_told_apart_from_a_broker_conf(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("hello world\ncolour=red\n")
    check("--version", "5.3.3", "--property", "S4", "--max-states", "10")
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "is it a broker.conf?" in line] == lines[-1:]
    write("colour=red\ntransactionCheckMax=7\n")
    check("--version", "5.3.3", "--property", "S4", "--max-states", "10")
    assert "is it a broker.conf?" not in capsys.readouterr().err


def test_a_version_that_is_taken_because_none_is_given_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    write("")
    check("--property", "S4", "--max-states", "10")
    assert capsys.readouterr().err == "halfcheck: broker.conf: no --version is given: 5.5.1 is taken\n"
    check("--version", "4.9.7", "--property", "S4", "--max-states", "10")
    assert capsys.readouterr().err == ""


def test_a_missing_file_and_options_without_a_file_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert check() == ExitCode.BAD_CONTENT
    assert run(["check", "--immunity", "60s"]) == ExitCode.BAD_OPTION
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "halfcheck: broker.conf is not a file; a broker.conf of lines KEY=VALUE was expected: name one that is there",
        "halfcheck: No such option: --immunity; see halfcheck check --help",
    ]


def test_a_release_without_a_profile_is_judged_by_the_nearest_with_its_own_defaults_and_is_told_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("")
    told = check_json(capsys, "--version", "5.0.0", "--property", "S4", "--max-states", "10")
    settings = told["broker_conf"]
    nearest = "4.9.7+undecodable_throws+lower_end_passes_all+truncates_running"
    why = (
        f"5.0.0 has no profile: it is judged by {nearest}, as 4.9.7 stands for 4.6.0 to 5.0.0; "
        "with undecodable_op, ask 4.9.7+lower_end_passes_all+truncates_running: its rounds leave such op messages out"
    )
    assert (settings["version"], settings["profile"], settings["judged_by"]) == ("5.0.0", nearest, why)
    assert settings["transactionCheckInterval"] == 60_000
    later = check_json(capsys, "--version", "5.1.1", "--property", "S4", "--max-states", "10")["broker_conf"]
    assert (later["profile"], later["transactionCheckInterval"]) == ("5.3.3", 30_000)
    check("--version", "5.0.0", "--property", "S4", "--max-states", "10")
    assert capsys.readouterr().err == f"halfcheck: broker.conf: {why}\n"


@pytest.mark.untraced
@pytest.mark.parametrize(("version", "is_broken"), [("4.5.1", True), ("4.5.2", False)])
def test_a_release_that_keeps_what_it_discards_is_not_told_that_it_loses_it(
    version: str, is_broken: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    write("transactionCheckMax=1\n")
    told = check_json(capsys, "--version", version, "--property", "S8.discarded_without_a_record", "--instance", "tiny")
    verdict = told["properties"]["S8"]["clauses"]["discarded_without_a_record"]["verdict"]
    assert verdict == ("violated" if is_broken else "holds")


@pytest.mark.untraced
def test_equal_rounds_are_folded_in_words_and_kept_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    write("")
    check("--property", "S8.parked_although_settled")
    out = capsys.readouterr().out
    assert re.search(r"\d\.001 s  1\d more rounds like this, up to here\n", out)
    assert out.count("a check round begins") < 5
    told = check_json(capsys, "--property", "S8.parked_although_settled")
    steps = told["properties"]["S8"]["clauses"]["parked_although_settled"]["schedule"]
    assert sum(step["action"] == "begin_round" for step in steps) == 15


@pytest.mark.untraced
def test_all_lists_what_holds_what_cannot_occur_and_the_orders(capsys: pytest.CaptureFixture[str]) -> None:
    write("")
    check("--property", "S5", "--property", "S10", "--all")
    out = capsys.readouterr().out
    assert "cannot occur here:\n  needs the fault" in out
    assert re.search(r"^S5\.no_commit_arrived +\w", out, re.MULTILINE)
    orders = out[out.index("is that of the configuration: ") :]
    assert all(f"; {order}; " in orders for order in ("op batch interval < timeout", "check interval > timeout"))


@pytest.mark.untraced
@pytest.mark.parametrize("columns", sampled([60, 80, 160], 2))
def test_no_line_is_longer_than_the_terminal_and_no_word_of_the_answer_is_cut(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    write("")
    check("--property", "S9.overslept_op", "--property", "S9.late_op", "--version", "5.3.3")
    out = capsys.readouterr().out
    assert max(len(line.rstrip()) for line in out.splitlines()) <= columns
    assert "…" not in out
    for word in ("S9.overslept_op", "6.001", "transactionOpBatchInterval"):
        assert word in out


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("clause", "immunity", "reason"),
    [
        ("L2.over_age", "90h", "it is older than fileReservedTime"),
        ("L2.immunity_burns_checks", "1h", "its checks are used up"),
    ],
)
def test_a_schedule_says_for_which_of_two_reasons_a_half_is_discarded(
    clause: str, immunity: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("")
    asked = (
        "--version",
        "4.9.7",
        "--immunity",
        immunity,
        "--property",
        clause,
        "--instance",
        "tiny",
        "--engine",
        "numba",
    )
    assert check(*asked) == ExitCode.SAFETY_VIOLATED
    said = re.findall(r"the round discards half \d+: (.*)", capsys.readouterr().out)
    assert said == [reason]
