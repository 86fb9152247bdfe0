"""`halfcheck check` and `halfcheck replay`: verdicts, exit codes, JSON, and one line for bad input."""

import json
from pathlib import Path

import jsonschema
import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from model_check.finding import SCHEMA

pytestmark = pytest.mark.xdist_group(name="tiny")

CRASH = ("check", "--instance", "tiny", "--faults", "crash")


def check_json(capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, object]:
    run([*CRASH, "--json", *more])
    told: dict[str, object] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.parametrize("profile", ["4.5.1", "4.9.7", "5.3.3", "5.4.0"])
def test_b01_is_found_in_the_quiet_world_and_the_exit_code_says_so(
    profile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--profile", profile, "--instance", "tiny"]) == ExitCode.SAFETY_VIOLATED
    out = capsys.readouterr().out
    assert "S1.immune_half is violated" in out
    assert "put_back_immune_half" in out


def test_a_switch_can_be_turned_where_a_profile_is_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    repaired = ["--profile", "4.9.7+heeds_settled_originals", "--instance", "tiny"]
    assert run(["check", *repaired, "--property", "S1.immune_half"]) == ExitCode.OK
    assert "RocketMQ 4.9.7+heeds_settled_originals in the quiet world" in capsys.readouterr().out
    buffered = [*CRASH, "--profile", "4.9.7+batches_ops", "--property", "S10"]
    assert run([*buffered, "--json"]) == ExitCode.SAFETY_VIOLATED
    (tmp_path / "b02.json").write_text(capsys.readouterr().out)
    assert run(["replay", str(tmp_path / "b02.json")]) == ExitCode.SAFETY_VIOLATED
    assert run(["check", "--profile", "5.3.3+magic"]) == ExitCode.BAD_OPTION
    assert "no switch 'magic'; halfcheck switches lists the 54 that there are" in capsys.readouterr().err


def test_what_holds_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*CRASH, "--profile", "4.9.7", "--property", "S10"]) == ExitCode.OK
    assert "all reachable states" in capsys.readouterr().out


def test_a_search_that_is_cut_short_says_so_and_decides_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--instance", "tiny", "--property", "S1", "--max-states", "10"]) == ExitCode.OTHER
    out = capsys.readouterr().out
    assert "CUT SHORT" in out
    assert "unknown" in out


def test_the_json_has_the_shape_that_others_build_on(capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema.validate(check_json(capsys), json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_a_search_by_fingerprints_says_how_likely_it_missed_a_state(capsys: pytest.CaptureFixture[str]) -> None:
    mine = ["--profile", "5.3.3", "--engine", "fingerprints"]
    assert run([*CRASH, *mine]) == ExitCode.SAFETY_VIOLATED
    assert "some state was missed with a probability of at most 2.6e-10" in capsys.readouterr().out
    assert check_json(capsys, *mine)["collision_probability"] == pytest.approx(98_391**2 / 2**65, rel=1e-3)
    assert check_json(capsys)["collision_probability"] is None


def test_the_schema_refuses_a_renamed_key(capsys: pytest.CaptureFixture[str]) -> None:
    told = check_json(capsys)
    told["states"] = told.pop("distinct")
    with pytest.raises(jsonschema.ValidationError, match="distinct"):
        jsonschema.validate(told, json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_a_replay_of_the_json_takes_the_same_steps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = check_json(capsys, "--property", "S10")
    file = tmp_path / "counterexample.json"
    file.write_text(json.dumps(told))
    assert run(["replay", str(file)]) == ExitCode.SAFETY_VIOLATED
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("RocketMQ 5.5.1 with crash, instance tiny, ")
    assert first.endswith(" steps: S10.op_entry_dies_with_the_process is violated")
    assert run(["replay", str(file), "--json"]) == ExitCode.SAFETY_VIOLATED
    replayed = json.loads(capsys.readouterr().out)
    assert (replayed["profile"], replayed["faults"], replayed["instance"]) == ("5.5.1", ["crash"], "tiny")
    assert replayed["violated"] == ["S10.op_entry_dies_with_the_process"]
    assert replayed["trace"] == told["properties"]["S10"]["trace"]  # type: ignore[index]


def test_the_printed_replay_command_works(capsys: pytest.CaptureFixture[str]) -> None:
    told = check_json(capsys, "--property", "S10")
    words = told["properties"]["S10"]["replay"].split('"')  # type: ignore[index]
    assert run([*words[0].split()[1:], words[1]]) == ExitCode.SAFETY_VIOLATED
    assert "S10.op_entry_dies_with_the_process is violated" in capsys.readouterr().out


def test_a_replay_in_a_version_that_forbids_a_step_names_the_step_and_the_rule(
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps = "send_half t=0 immunity=-1; roll_back_locally t=0; buffer_op h=0"
    assert run(["replay", "--instance", "tiny", "--profile", "4.9.7", "--steps", steps]) == ExitCode.BAD_OPTION
    assert "step 3, buffer_op h=0, is refused (require): this version writes op messages in batches" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "expected", "code"),
    [
        (["check", "--profile", "5.9"], "no profile '5.9'; did you mean 5.5.1? There are 4.5.1", 151),
        (["check", "--faults", "crash,fire"], "no fault 'fire'; there are slow_local", 151),
        (["check", "--instance", "huge"], "no instance 'huge'; there are tiny", 151),
        (["check", "--instance", "missing.toml"], "missing.toml", 150),
        (["check", "--property", "S99"], "no property 'S99'; did you mean S9? There are S1", 151),
        (["check", "--engine", "coq"], "no engine 'coq'; there are numba, cpython, z3, fingerprints", 151),
        (["check", "--max-states", "0"], "--max-states", 151),
        (["check", "--max-states", "many"], "many", 151),
        (["check", "extra"], "extra", 151),
        (["check", "--memory", "8 horses"], "no size: '8 horses'; give a number with K, M, G or T", 151),
        (["check", "--memory", "1M"], "1 MiB of memory are too little for a search: give 32 MiB or more", 151),
        (["check", "--instance", "tiny", "--engine", "z3:x"], "--engine z3:x: expected z3:30, with a number", 151),
        (["check", "--resume"], "nothing to resume from: give the folder of the checkpoint, too (--checkpoint", 151),
        (
            ["check", "--instance", "tiny", "--resume", "--checkpoint", "d"],
            "no checkpoint in d: start the search w",
            151,
        ),
        (["check", "--instance", "tiny", "--checkpoint", "/dev/null"], "/dev/null: File exists: give a folder", 150),
        (
            ["check", "--instance", "tiny", "--checkpoint", "/dev/null/c"],
            "c: Not a directory: give a folder for a",
            150,
        ),
        (
            ["check", "--write", "missing/x.itf.json"],
            "missing/x.itf.json: cannot be written: missing is no folder",
            150,
        ),
        (["check", "--write", "svg=."], ".: cannot be written: it is a directory", 150),
        (["faults", "--checkpoint", "d"], "No such option: --checkpoint", 151),
        (["faults", "--coverage"], "No such option: --coverage", 151),
        (["faults", "--engine", "z3"], "No such option: --engine", 151),
        (["faults", "--immunity", "6s"], "No such option: --immunity", 151),
        (["check", "--fresh"], "No such option: --fresh", 151),
        (["check", "--threads", "0"], "Invalid value for '--threads'", 151),
        (["check", "--max-states", "1e6"], "Invalid value for '--max-states'", 151),
        (["check", "--checkpoint-every", "-1"], "--checkpoint-every", 151),
        (["check", "--instance", "tiny", "--disk", "/dev/null/d"], "/dev/null/d: Not a directory", 150),
        (["check", "--engine", "cpython", "--memory", "1G"], "the engine cpython knows no memory limit", 151),
        (["replay"], "give either FILE or --steps", 151),
        (["replay", "missing.json"], "missing.json", 150),
        (["replay", "--steps", ";"], "no steps are given", 151),
        (["replay", "--steps", "send_half t=9 immunity=-1"], "no step of this instance; there are send_half t=0", 151),
        (["replay", "--steps", "fly"], "no action has that name", 151),
    ],
)
def test_bad_input_gets_one_line_and_its_exit_code(
    arguments: list[str],
    expected: str,
    code: int,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert expected in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "not JSON"),
        ("{}", "'properties' is missing"),
        ('{"properties": []}', "is missing or not as"),
        ('{"properties": {"S1": {"trace": [], "clauses": {}}}}', "nothing to replay"),
        ("\udcff", "not UTF-8"),
    ],
)
def test_a_bad_trace_file_gets_one_line(
    content: str, expected: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert run(["replay", str(file)]) in (ExitCode.BAD_CONTENT, ExitCode.BAD_OPTION)
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert expected in said
