"""``halfcheck analyze`` of counterexamples in the Informal Trace Format: judged, or refused in one line."""

import json
from pathlib import Path

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from tests.halfcheck.itf_files import BAD_TRACES, TRACE
from tests.halfcheck.test_simulate_and_analyze import halfcheck


@pytest.mark.untraced
def test_a_counterexample_is_judged_and_breaks_what_it_was_found_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("b02.itf.json", "again.json"):
        (tmp_path / name).write_text(json.dumps(TRACE), encoding="utf-8")
    code, analyzed, said = halfcheck(capsys, "analyze", str(tmp_path), "--master", "local[1]", "--json")
    assert (code, said) == (ExitCode.OK, "")
    told = json.loads(analyzed)
    assert (told["traces"], sorted(told["violations"]["5.3.3"])) == (2, ["again.json", "b02.itf.json"])
    for of_file in told["violations"]["5.3.3"].values():
        assert {name: count for name, count in of_file.items() if count} == {"S10": 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.json", "b02.itf.json"]


@pytest.mark.parametrize("content", BAD_TRACES.values(), ids=BAD_TRACES)
def test_a_bad_counterexample_gets_one_line(
    content: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "trace.itf.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert run(["analyze", str(file)]) in (ExitCode.BAD_CONTENT, ExitCode.BAD_OPTION)
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "unexpected" not in said.err


@pytest.mark.parametrize("content", [b"", b"[1, 2]", b'{"states": [', b"\xff\xfe{}", b"null"])
def test_what_is_no_counterexample_at_all_gets_one_line(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "trace.itf.json"
    file.write_bytes(content)
    assert run(["analyze", str(file)]) == ExitCode.BAD_CONTENT
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert f"{file}: no events in it" in said.err
