"""A fault planted into a store is found and named by `halfcheck audit`: in its table, its JSON and its page.

One process and the stages on Spark say the same of it, and nothing of the kind of the clean store.
"""

import html
import json
import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conformance.golden_stores import golden_store
from halfcheck import app
from halfcheck.errors import ExitCode
from reference.format.commit_log import CommitLog
from reference.format.record import LogRecord
from spark_trace_analysis.records.transaction_record import HALF_TOPIC, OP_TOPIC
from tests.reference.format.store_writer import StoreWriter

LOG = f"commitlog/{0:020d}"
MIDDLE = f"commitlog/{524288:020d}"
CRC_AT, BODY_AT = 8, 88


@dataclass(frozen=True)
class Fault:
    """What is done to which store, and what has to be said of it.

    Attributes
    ----------
    store
        Makes the clean store at a path.
    says
        What one piece of damage, the trace's sentence or a transaction's row must match.
    exit_code
        That of the command: what became of transactions is a report, damage is none.
    """

    store: Callable[[Path], object]
    plant: Callable[[Path], object]
    says: str
    exit_code: ExitCode = ExitCode.BAD_CONTENT


def golden(name: str) -> Callable[[Path], object]:
    """A copy of a real broker's store."""
    version, _, scenario = name.partition("/")
    source = golden_store(version, scenario).path
    return lambda target: shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.gz", "at_kill"))


def written(target: Path, *, again: bool = False) -> None:
    """Nine transactions; of one of them the real message may be appended once more."""
    writer = StoreWriter()
    for number in range(9):
        half = writer.half(f"K{number}", body=b"%d" % number)
        writer.commit(half)
        if again and number == 4:
            writer.deliver(half)
    writer.write(target)


def append_again(store: Path) -> None:
    shutil.rmtree(store)
    written(store, again=True)


def answered(target: Path, *, loses_a_copy: bool = False) -> None:
    """Three halves, put back once, the first never answered; the saved offset is behind them, at their copies."""
    writer = StoreWriter()
    halves = [writer.half(f"K{number}", body=b"%d" % number) for number in range(3)]
    copies = []
    for half in halves:
        place = len(writer.log)
        copies.append(writer.put_back(half))
        if half is halves[0]:
            lost = place, len(writer.log)
    for copy in copies[1:]:
        writer.commit(copy)
    writer.write(target, half=copies[0].offset)
    if loses_a_copy:
        overwrite(target / LOG, lost[0], bytes(lost[1] - lost[0]))


def record(store: Path, topic: str, number: int) -> LogRecord:
    """The record of a number of a topic."""
    return [one for one in CommitLog.open(store).records() if one.topic == topic][number]


def overwrite(path: Path, at: int, raw: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[at : at + len(raw)] = raw
    path.write_bytes(content)


def zero_an_op(store: Path) -> None:
    op = record(store, OP_TOPIC, 1)
    overwrite(store / LOG, op.physical_offset, bytes(op.total_size))


def name_other_halves(store: Path, body: bytes) -> None:
    op = record(store, OP_TOPIC, 0)
    assert len(body) == len(op.body)
    overwrite(store / LOG, op.physical_offset + BODY_AT, body)
    overwrite(store / LOG, op.physical_offset + CRC_AT, (zlib.crc32(body) & 0x7FFFFFFF).to_bytes(4))


def lose_the_copy(store: Path) -> None:
    shutil.rmtree(store)
    answered(store, loses_a_copy=True)


def flip_a_byte(store: Path) -> None:
    at = record(store, HALF_TOPIC, 2).physical_offset + BODY_AT
    overwrite(store / LOG, at, bytes([(store / LOG).read_bytes()[at] ^ 1]))


def cut_the_file(store: Path) -> None:
    half = record(store, HALF_TOPIC, 5)
    (store / LOG).write_bytes((store / LOG).read_bytes()[: half.physical_offset + half.total_size - 7])


def put_a_folder_there(store: Path) -> None:
    (store / MIDDLE).unlink()
    (store / MIDDLE).mkdir()


FAULTS = {
    "an op record of zeros": Fault(golden("5.3.3/late"), zero_an_op, rf"^{LOG}, byte \d+: .* bytes are passed over"),
    "an op that names another half": Fault(
        golden("5.3.3/five"),
        lambda store: name_other_halves(store, b"0,0,"),
        r"^refused by the specification of 5\.3\.3 at event 7 .* the round cannot get past the half at half 1",
        ExitCode.OK,
    ),
    "an op that names a half to come": Fault(
        golden("5.3.3/five"),
        lambda store: name_other_halves(store, b"0,7,"),
        rf"^{LOG}, byte \d+: the op names half 7, but the half queue ended at 5 when it was written",
    ),
    "a real message appended twice": Fault(written, append_again, r"^K4 doubled 2 A13", ExitCode.OK),
    "a half whose copy was overwritten": Fault(answered, lose_the_copy, rf"^{LOG}, byte \d+: .* bytes are passed over"),
    "a half of which the log may have said more": Fault(answered, lose_the_copy, r"^K0 unknown 0"),
    "a flipped byte": Fault(golden("5.3.3/late"), flip_a_byte, rf"^{LOG}, byte \d+: .* does not match its checksum"),
    "a cut file": Fault(golden("5.3.3/late"), cut_the_file, rf"^{LOG}, byte \d+: the file ends inside a record"),
    "a missing middle file": Fault(
        golden("5.3.3/wide"),
        lambda store: (store / MIDDLE).unlink(),
        rf"^{LOG}, byte \d+: the log goes on at 524288, but the next file is commitlog/0+1048576",
    ),
    "an unreadable middle file": Fault(
        golden("5.3.3/wide"), put_a_folder_there, rf"^{MIDDLE}, byte 0: the file can't be read \(Is a directory\)"
    ),
}


@pytest.fixture
def _spark_is_there(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command takes the Spark of these tests: `local[2]`."""

    @contextmanager
    def shared(master: str, **_options: object) -> Iterator[SparkSession]:
        assert master == "local[2]"
        yield spark

    monkeypatch.setattr("spark_trace_analysis.cluster.session.spark_session", shared)


def audited(store: Path, capfd: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, Any], list[str]]:
    """Exit code, JSON, and what is said as lines: of damage, of the trace, of each transaction that is listed."""
    exit_code = app.run(["audit", str(store), "--json", "--report", str(store.with_name("page.html")), *more])
    answer = json.loads(capfd.readouterr().out)
    trace = answer["trace"]
    lines = [f"{region['file']}, byte {region['offset']}: {region['reason']}" for region in answer["corrupt"]]
    if trace["divergence"]:
        event, guard = trace["divergence"]["event"], trace["divergence"]["guard"]
        lines.append(f"refused by the specification of {trace['profile']} at event {event['number']} {guard}")
    rows = answer["transactions"]
    lines += [f"{row['unique_key']} {row['state']} {row['deliveries']} {' '.join(row['resembles'])}" for row in rows]
    return exit_code, answer, lines


@pytest.mark.untraced
@pytest.mark.usefixtures("_spark_is_there")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.sweep if name.endswith("middle file") else ()) for name in FAULTS],
)
def test_a_planted_fault_is_found_and_named(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fault, store = FAULTS[name], tmp_path / "store"
    fault.store(store)
    ways: list[tuple[str, ...]] = [(), ("--master", "local[2]")]
    exit_code, answer, lines = audited(store, capfd)
    assert (exit_code, answer["corrupt"]) == (ExitCode.OK, [])
    assert not [line for line in lines if re.search(fault.says, line)], "it is said of the clean store, too"
    assert "No damage was found" in tmp_path.joinpath("page.html").read_text(encoding="utf-8")
    fault.plant(store)
    answers = []
    for way in ways:
        exit_code, answer, lines = audited(store, capfd, *way)
        assert exit_code == fault.exit_code
        (named, *_) = [line for line in lines if re.search(fault.says, line)] or [""]
        assert named, "\n".join(lines)
        page = html.unescape(tmp_path.joinpath("page.html").read_text(encoding="utf-8"))
        assert all(word in page for word in re.split(r"[ ,:]+", named) if word)
        assert ("No damage was found" in page) is (exit_code == ExitCode.OK)
        app.run(["audit", str(store), *way])
        table = capfd.readouterr().out
        assert all(word in table for word in re.split(r"[ ,:]+", named) if word)
        answer["corrupt"].sort(key=lambda region: (region["file"], region["offset"], region["reason"]))
        answers.append(answer)
    assert answers[0] == answers[1]
