from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check.errors import BadFile, ModelCheckError, OutOfRoom
from model_check.explicit import search as explicit_search
from model_check.explicit.checkpoint import FILE
from model_check.explicit.search import Exploration, Progress, explore
from model_check.explicit.state_store.resources import LEAST_MEMORY, Resources

if TYPE_CHECKING:
    from pathlib import Path

DISTINCT, GENERATED = 296_448, 2_744_706
"""Of seven resource managers."""


@pytest.fixture(autouse=True, params=["two_phase_commit"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.fixture(autouse=True)
def short_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of this size comes back often enough to be stopped half way."""
    monkeypatch.setattr(explicit_search, "PARENTS_A_CALL", 1 << 14)


def search(folder: Path, *, managers: int = 7, title: str = "seven", **options: Any) -> Exploration:
    resources = {name: options.pop(name) for name in ("resume", "memory", "fingerprint_bits") if name in options}
    return explore(
        TWO_PHASE_COMMIT,
        Constants(resource_managers=managers),
        resources=Resources(checkpoint=folder, checkpoint_every=0, **resources),
        title=title,
        **options,
    )


def stop_at(states: int) -> Any:
    def report(progress: Progress) -> None:
        if progress.distinct >= states:
            raise KeyboardInterrupt

    return report


def answers(found: Exploration) -> tuple[object, ...]:
    paths = found.paths_to(range(len(found.seen_at)))
    steps = [None if path is None else [str(step) for step in path] for path in paths.values()]
    return found.distinct, found.generated, found.depth, found.sizes, found.seen_at, found.complete, steps


@pytest.mark.parametrize(("before", "after"), [(1, 1), (1, 2), (2, 1), (2, 4), (3, 2)])
def test_a_search_that_goes_on_with_other_threads_ends_as_if_it_had_never_stopped(
    tmp_path: Path, before: int, after: int
) -> None:
    whole = explore(TWO_PHASE_COMMIT, Constants(resource_managers=7))
    stopped = search(tmp_path, threads=before, report=stop_at(150_000))
    assert not stopped.complete
    resumed = search(tmp_path, threads=after, resume=True)
    assert 150_000 <= resumed.resumed_from == stopped.distinct < DISTINCT
    assert answers(resumed) == answers(whole)
    assert (resumed.distinct, resumed.generated) == (DISTINCT, GENERATED)
    assert set(map(bytes, resumed.store.all_words())) == set(map(bytes, whole.store.all_words()))
    again = search(tmp_path, resume=True)
    assert again.resumed_from == DISTINCT
    assert answers(again) == answers(whole)


def test_what_was_being_written_when_the_process_died_does_not_matter(tmp_path: Path) -> None:
    search(tmp_path, report=stop_at(100_000))
    with (tmp_path / "states.0").open("ab") as file:
        file.write(b"half a state")
    (tmp_path / f"{FILE}.tmp").write_text('{"format": 1, "sea')
    whole = answers(explore(TWO_PHASE_COMMIT, Constants(resource_managers=7)))
    for _ in range(2):  # the second time from what the first one has appended
        assert answers(search(tmp_path, resume=True)) == whole


def test_ctrl_c_is_heard_between_two_calls_and_writes_a_last_checkpoint(tmp_path: Path) -> None:
    def press(progress: Progress) -> None:
        if progress.depth == 10:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        resources = Resources(checkpoint=tmp_path, checkpoint_every=3600)
        constants = Constants(resource_managers=7)
        stopped = explore(TWO_PHASE_COMMIT, constants, resources=resources, title="seven", report=press)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert not stopped.complete
    resumed = search(tmp_path, resume=True)
    assert resumed.resumed_from == stopped.distinct < DISTINCT == resumed.distinct
    assert resumed.generated == GENERATED


def test_a_search_that_outgrew_its_memory_goes_on_with_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = Constants(resource_managers=8)
    resources: dict[str, Any] = {"checkpoint": tmp_path, "checkpoint_every": 3600.0, "spill": False}
    with pytest.raises(OutOfRoom, match=r"the checkpoint in \S+ with [\d,]+ states is whole: make room and go on"):
        explore(TWO_PHASE_COMMIT, constants, resources=Resources(memory=LEAST_MEMORY, **resources))
    more = Resources(memory=8 * LEAST_MEMORY, resume=True, **resources)
    found = explore(TWO_PHASE_COMMIT, constants, resources=more)
    assert found.resumed_from > 1_000_000
    assert (found.distinct, found.generated) == (1_745_408, 18_507_778)


def test_a_folder_with_a_checkpoint_is_not_overwritten(tmp_path: Path) -> None:
    search(tmp_path, report=stop_at(1000))
    with pytest.raises(ModelCheckError, match=r"holds a checkpoint already: go on with --resume, or choose another"):
        search(tmp_path)


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "new"):
        with pytest.raises(
            ModelCheckError, match=rf"^no checkpoint in {folder}: start the search without --resume, or"
        ):
            search(folder, resume=True)
    assert not list(tmp_path.iterdir())


def test_a_folder_serves_one_search_at_a_time(tmp_path: Path) -> None:
    def meddle(progress: Progress) -> None:
        if progress.depth >= 3:
            search(tmp_path, resume=True)

    with pytest.raises(ModelCheckError, match=r"is in use by another search: wait for its end, or choose"):
        search(tmp_path, report=meddle)


def test_another_search_does_not_go_on_from_it(tmp_path: Path) -> None:
    search(tmp_path, report=stop_at(1000))
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"title": "six"}, r"is of seven, not of six: resume the same search, or start anew in another folder$"),
        ({"managers": 6}, r"is one with resource_managers = 7, not 6: "),
        ({"fingerprint_bits": 64}, r"is one with states kept as words, not as 64 bits: "),
    ]
    for options, complaint in refusals:
        with pytest.raises(ModelCheckError, match=complaint) as refused:
            search(tmp_path, resume=True, **options)
        assert refused.value.exit_code == 151
    content = json.loads((tmp_path / FILE).read_text())
    content["search"]["module"] = "kernel_of_another_specification"
    (tmp_path / FILE).write_text(json.dumps(content))
    with pytest.raises(ModelCheckError, match=r"is one of a specification, or a halfcheck, that has changed since: "):
        search(tmp_path, resume=True)


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    search(tmp_path, report=stop_at(100_000))
    states, file = tmp_path / "states.0", tmp_path / FILE
    content = states.read_bytes()
    states.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    with pytest.raises(BadFile, match=rf"^{states}: damaged, its checksum is not that of the checkpoint: start anew$"):
        search(tmp_path, resume=True)
    states.write_bytes(content[:-1])
    with pytest.raises(BadFile, match=rf"^{states}: [\d,]+ bytes where the checkpoint says [\d,]+: start anew$"):
        search(tmp_path, resume=True)
    for text in ("{", "[]", "{}", '{"format": 1}', '{"format": 1, "search": {}, "position": {}}'):
        file.write_text(text)
        with pytest.raises(BadFile, match=rf"^{file}: no checkpoint, or a damaged one: start the search anew$"):
            search(tmp_path, resume=True)
    file.write_text('{"format": 99}')
    with pytest.raises(BadFile, match=r"a checkpoint of format 99, not 1: start the search anew$"):
        search(tmp_path, resume=True)
