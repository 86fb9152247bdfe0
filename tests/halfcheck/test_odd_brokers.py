"""What an audit over the network meets besides good brokers: odd halves, many queues, an end in the middle."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from halfcheck import app
from halfcheck.errors import ExitCode
from tests.wire.copying.test_paused_copies import Dying
from tests.wire.copying.traffic import COMMIT
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC, OneProducer
from wire.copying import broker_moment
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

QUEUES = 1_000
ODD = (
    "garbage",
    "\1\2\1\2",
    "TRAN_MSG\1true\2UNIQ_KEY\1\N{GRINNING FACE}\2CHECK_IMMUNITY_TIME_IN_SECONDS\1NaN\2PGROUP\1g\2",
    f"TRAN_MSG\1true\2PGROUP\1g\2UNIQ_KEY\1{'k' * 2_000}\2\2\2=",
)


def test_odd_halves_large_ones_and_a_thousand_queues_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with broker(tmp_path, "5.3.3", maxMessageSize=8 << 20) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC, queues=QUEUES)
        for properties in (*ODD, "TRAN_MSG\1true\2PGROUP\1g\2UNIQ_KEY\1large\2"):
            fields = {
                "a": "g", "b": TOPIC, "c": "TBW102", "d": 4, "e": QUEUES - 1, "f": 4, "g": int(time.time() * 1_000),
                "h": 0, "i": properties, "j": 0, "k": False, "m": False,
            }  # fmt: skip
            body = bytes(4 << 20) if "large" in properties else b"x"
            assert one.ask(RequestCode.SEND_MESSAGE_V2, fields, body).code == ResponseCode.SUCCESS
        one.end(one.half("plain"), COMMIT)
        running.controller.push_clock(61_000)
        assert app.run(["audit", "--broker", running.address, "--json"]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert (found["counts"]["delivered"], found["counts"]["pending"]) == (1, 3)
    assert {len(row["unique_key"]) for row in found["transactions"]} == {1, 5, 2_000}


def test_what_was_read_of_a_broker_that_goes_away_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    with broker(tmp_path, "5.3.3") as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        for number in range(40):
            one.end(one.half(f"k{number}"), COMMIT)
        running.controller.push_clock(61_000)
        words = ["audit", "--broker", running.address, "--copy", str(copy), "--json"]
        Dying.answers = 1
        with monkeypatch.context() as patched:
            patched.setattr(broker_moment, "QueueReader", Dying)
            assert app.run(words) == ExitCode.BAD_CONTENT
        (line,) = capsys.readouterr().err.splitlines()
        assert "gone; what was read so far is kept: the same command goes on from there" in line
        assert not copy.exists()
        assert app.run(words) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["counts"]["delivered"] == 40
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith((".", "copy"))) == ["copy"]
