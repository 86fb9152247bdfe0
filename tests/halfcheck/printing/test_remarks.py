"""What is said of a `broker.conf` beside an audit: the same as beside a check."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store
from halfcheck.app import run
from halfcheck.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return shutil.copytree(golden_store("5.3.3", "five").path, tmp_path / "store")


def test_an_audit_reads_comments_in_any_script_and_says_what_the_broker_swallows(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conf = store / "broker.conf"
    conf.write_text(
        "# 配置者: 全部关闭\n# 生产者transactionCheckMax=1\ntransactionCheckMax=15\ntransactionCheckInterval=3s\n"
        "transientStorePoolEnable=true\ntransactionTimeout=5\ncombineCQUseRocksdbForLmq=true\n",
        encoding="utf-8",
    )
    assert run(["audit", str(store)]) == ExitCode.OK
    told = [line.removeprefix(f"halfcheck: {conf}: ")[:47] for line in capsys.readouterr().err.splitlines()]
    assert told == [
        "line 4: transactionCheckInterval is '3s', not a",
        "line 5: transientStorePoolEnable=true: a messag",
        "line 6: transactionTimeout is no setting of 5.3",
    ]
    assert run(["audit", str(store), "--version", "5.3.3"]) == ExitCode.OK
    assert "combineCQUseRocksdbForLmq is no setting of 5.3.3" in capsys.readouterr().err


def test_an_audit_of_a_store_without_a_file_says_nothing_of_one(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (store / "broker.conf").unlink()
    assert run(["audit", str(store)]) == ExitCode.OK
    assert capsys.readouterr().err == ""
