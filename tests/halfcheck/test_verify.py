"""`halfcheck verify`: the whole job, small, from the search to the page."""

import json
import re
from pathlib import Path

import pytest

from halfcheck.app import run
from halfcheck.exit_codes import ExitCode

pytestmark = pytest.mark.xdist_group(name="small")


def test_the_main_job_writes_one_page_with_all_its_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "--traces", "800", "--seed", "3", "--json"]
    assert run([*words, "--out", str(tmp_path / "report"), "--work", str(tmp_path / "work")]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["traces"] == 800
    assert told["searches"] == 12
    assert told["stores"] == 29
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "halfcheck verify --traces 800 --seed 3" in page
    assert "S1.immune_half" in page
    assert "5.3.3/immunity" in page
    assert page.count("<svg") >= 4
    assert not re.findall(r"""(?:src|href)=["']https?:""", page)


def test_an_out_that_is_a_file_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report"
    file.write_text("mine")
    assert run(["verify", "--out", str(file)]) == ExitCode.BAD_OPTION
    assert file.read_text() == "mine"
    assert len(capsys.readouterr().err.splitlines()) == 1
