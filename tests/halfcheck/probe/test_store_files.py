"""A probe with the broker's store at hand: other records, saved offsets as an event, damage, and what an audit says."""

from __future__ import annotations

import json
import shutil
import threading
from typing import TYPE_CHECKING, Any

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from halfcheck.probe.judgement import judge
from halfcheck.probe.observed_trace import ProbedTrace
from halfcheck.probe.session import identify
from halfcheck.probe.store_files import OtherStoreError, SavedOffsets, StoreFiles
from model_check.world import Profile
from reference.format.consumer_offsets import NAME
from tests.wire.probe.own_broker import own_broker
from wire.client.channel import BrokerChannel
from wire.probe.orders import Kill
from wire.probe.player import Done
from wire.probe.producers import ProbeProducers
from wire.probe.view import BrokerSnapshot, BrokerView

if TYPE_CHECKING:
    from pathlib import Path

    from halfcheck.probe.session import Target
    from wire.probe.view import Baseline

LOG = "commitlog/00000000000000000000"


class Probed:
    """A broker on which a transaction was committed, what it gives, and what its store holds."""

    def __init__(
        self, target: Target, baseline: Baseline, reading: BrokerSnapshot, producers: ProbeProducers, store: Path
    ) -> None:
        self.target, self.baseline, self.reading, self.producers, self.store = (
            target,
            baseline,
            reading,
            producers,
            store,
        )
        self.keys = [sent.name.unique_key for sent in producers.halves.values()]

    def differences(self, store: Path) -> tuple[str, ...]:
        return StoreFiles(store).differences(self.reading, self.keys)

    def verdict(self, saved: SavedOffsets | None) -> tuple[list[str], bool]:
        """The last events of the trace with those offsets, and whether it is explained."""
        probed = ProbedTrace(self.reading, self.baseline, self.producers, (), 1_000, saved)
        events = [str(event) for event in probed.trace.events]
        return events, judge(probed, Profile.of("5.3.3"), self.target.conf).is_explained


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Probed:
    folder = tmp_path_factory.mktemp("broker")
    with own_broker("5.3.3", folder, mappedFileSizeCommitLog=1 << 16) as address, BrokerChannel(address) as channel:
        producers = ProbeProducers(address)
        view = BrokerView(channel, producers.name, 1 << 16)
        baseline = view.baseline(beside_others=False)
        producers.send(0, None, 0)
        producers.end(producers.halves[0].name, 8, answers_check=False)
        view.await_half(0)
        view.await_quiet(10)
        reading = view.read(baseline)
        producers.disconnect()
        target = identify(address, None, None)
    # The broker saves its offsets as it stops.
    return Probed(target, baseline, reading, producers, folder / "store")


@pytest.fixture
def copy(probed: Probed, tmp_path: Path) -> Path:
    """A copy of the store."""
    return shutil.copytree(probed.store, tmp_path / "store")


def overwrite(file: Path, at: int, written: bytes) -> None:
    with file.open("r+b") as stream:
        stream.seek(at)
        stream.write(written)


def test_the_files_hold_what_the_broker_gave(probed: Probed) -> None:
    assert len(probed.reading.records) == 3
    assert probed.differences(probed.store) == ()


def test_another_byte_in_the_files_is_said(probed: Probed, copy: Path) -> None:
    half = probed.reading.records[0]
    at = (copy / LOG).read_bytes().index(half.body, half.physical_offset)
    overwrite(copy / LOG, at, half.body.swapcase())
    place = f"{half.topic}/0 at 0 (commit log {half.physical_offset})"
    assert probed.differences(copy) == (f"{place} was given with another body than the files have",)


def test_a_record_that_was_not_given_is_said(probed: Probed) -> None:
    first, delivered, last = probed.reading.records
    less = BrokerSnapshot((first, last), None, None)
    (told,) = StoreFiles(probed.store).differences(less, probed.keys)
    place = f"{delivered.topic}/{delivered.queue_id} at 0 (commit log {delivered.physical_offset})"
    assert told == f"{place} is in the files, and was not given"
    assert StoreFiles(probed.store).differences(less, ()) == (), "a message of others"


def test_a_record_that_is_not_in_the_files_is_said(probed: Probed, copy: Path) -> None:
    last = probed.reading.records[-1]
    overwrite(copy / LOG, last.physical_offset, bytes(last.total_size))
    (told,) = probed.differences(copy)
    assert f"(commit log {last.physical_offset}) was given, and is not in the files" in told


def test_the_store_of_another_broker_is_told_apart(probed: Probed, copy: Path) -> None:
    overwrite(copy / LOG, 0, bytes((copy / LOG).stat().st_size))
    with pytest.raises(OtherStoreError, match="none of the 3 records that the broker gave is in it"):
        probed.differences(copy)


def test_saved_offsets_are_an_event_and_those_that_were_never_reached_are_not_explained(probed: Probed) -> None:
    saved = StoreFiles(probed.store).saved()
    events, is_explained = probed.verdict(saved)
    assert is_explained
    assert [event.split()[0] for event in events].count("offsets_persisted") == 2
    assert len(probed.verdict(None)[0]) == len(events) - 1
    events, is_explained = probed.verdict(SavedOffsets(7, 9))
    assert events[-1] == "offsets_persisted half=7 op=9"
    assert not is_explained


def test_a_death_before_the_first_record_has_nothing_to_explain(probed: Probed) -> None:
    before = probed.reading.records[0].store_timestamp - 5_000
    died = ProbedTrace(probed.reading, probed.baseline, probed.producers, [Done(Kill(), before)], 1_000)
    assert died.trace.crashes == ()
    assert judge(died, Profile.of("5.3.3"), probed.target.conf).is_explained


def test_saved_offsets_are_read_from_the_backup_only_if_the_file_stays_away(probed: Probed, copy: Path) -> None:
    files, right = StoreFiles(copy), (copy / NAME).read_bytes()
    (copy / f"{NAME}.bak").write_bytes(right.replace(b"CID_RMQ_SYS_TRANS", b"CID_OF_SOMEBODY"))
    (copy / NAME).unlink()
    assert files.saved() == SavedOffsets(None, None)
    (copy / NAME).write_bytes(right[: len(right) // 2])
    thread = threading.Timer(0.1, lambda: (copy / NAME).write_bytes(right))
    thread.start()
    assert files.saved() == StoreFiles(probed.store).saved()
    thread.join()


def test_a_record_that_is_being_written_is_no_damage(probed: Probed, copy: Path) -> None:
    last = probed.reading.records[-1]
    whole = (copy / LOG).read_bytes()[last.physical_offset : last.physical_offset + last.total_size]
    overwrite(copy / LOG, last.physical_offset, whole[:-40] + bytes(40))
    found = StoreFiles(copy).audit("5.3.3").corrupt
    assert [region.file for region in found] == [LOG, "config/consumerOffset.json"], "its op is not read yet"
    thread = threading.Timer(0.1, overwrite, (copy / LOG, last.physical_offset, whole))
    thread.start()
    assert StoreFiles(copy).audit("5.3.3").damage == 0
    thread.join()


def probed_with(store: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run(["probe", *arguments, "--store", str(store), "--json"])
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, content


def test_a_probe_tells_what_an_audit_says_of_the_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with own_broker("5.3.3", tmp_path) as address:
        code, told = probed_with(tmp_path / "store", capsys, str(address), "--scenario", "twice")
    (play,) = told["plays"]
    assert code == ExitCode.SAFETY_VIOLATED
    assert (play["explained"], play["files_differ"]) == (True, [])
    assert told["store"]["counts"]["doubled"] == 1
    assert told["store"]["resembles"] == ["A13"]
    assert told["store"]["trace"]["accepted"]


def test_a_path_that_is_no_store_is_refused_in_one_line(
    probed: Probed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["probe", str(probed.target.address), "--store", str(tmp_path)]) == ExitCode.BAD_CONTENT
    told = capsys.readouterr().err
    assert told == f"halfcheck: {tmp_path} has no commitlog/ in it, so it is not a RocketMQ store\n"
