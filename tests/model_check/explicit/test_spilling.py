"""States leave the memory when it ends, and nothing but the place where they are changes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from halfcheck.verdicts.files import VerdictFiles
from model_check.errors import ModelCheckError, OutOfRoom
from model_check.explicit.search import Exploration, explore
from model_check.explicit.state_store import hash_table as table
from model_check.explicit.state_store import regions, store
from model_check.explicit.state_store import reserved_memory as memory
from model_check.explicit.state_store.regions import StateFiles
from model_check.explicit.state_store.reserved_memory import HUGE_PAGE, bytes_of, take_huge_pages
from model_check.explicit.state_store.resources import LEAST_MEMORY, Resources
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.sampled import sampled

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

LARGE = ("bad_store_status", "clock_step")
"""An environment with more states than the least memory takes."""

MEMORY = 48 << 20
"""Bytes that are too few for that environment, and enough where states leave in coarse pieces."""

STATE_BYTES = 32
"""Four words a state in 5.3.3."""


@pytest.fixture(autouse=True, params=["small"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def search(resources: Resources | None, threads: int = 1, faults: tuple[str, ...] = ("clock_step",)) -> Exploration:
    constants = World.of("5.3.3", faults, "small").constants
    return explore(TRANSACTIONAL_MESSAGES, constants, threads=threads, resources=resources)


def paths(found: Exploration) -> list[list[str] | None]:
    told = found.paths_to(range(len(TRANSACTIONAL_MESSAGES.clauses)))
    return [None if path is None else [str(step) for step in path] for path in told.values()]


class Roomy(NamedTuple):
    """What a search finds that keeps all in memory, and its states and paths."""

    found: Exploration
    states: frozenset[bytes]
    paths: list[list[str] | None]


@pytest.fixture(scope="module")
def roomy() -> Roomy:
    found = search(None, 2, LARGE)
    return Roomy(found, states(found), paths(found))


def states(found: Exploration) -> frozenset[bytes]:
    return frozenset(map(bytes, found.store.all_words()))


@pytest.mark.parametrize("threads", sampled([2, 1], 2))
def test_states_on_disk_change_no_number_and_no_path(roomy: Roomy, tmp_path: Path, threads: int) -> None:
    tight = search(Resources(memory=LEAST_MEMORY, disk=tmp_path), threads, LARGE)
    assert roomy.found.disk_bytes == 0
    assert tight.disk_bytes > LEAST_MEMORY  # so that they left in several goes
    assert tight.peak_bytes <= LEAST_MEMORY < roomy.found.peak_bytes
    assert (tight.distinct, tight.generated) == (roomy.found.distinct, roomy.found.generated)
    assert (tight.sizes, tight.seen_at) == (roomy.found.sizes, roomy.found.seen_at)
    assert states(tight) == roomy.states
    assert paths(tight) == roomy.paths
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("set_aside", [HUGE_PAGE * 9, pytest.param(HUGE_PAGE * 40, marks=pytest.mark.sweep)])
def test_states_leave_huge_pages_for_the_disk(
    roomy: Roomy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, set_aside: int
) -> None:
    taken = []

    def take(array: npt.NDArray[Any], first: int, last: int) -> int:
        taken.append(take_huge_pages(array, first, last))
        return taken[-1]

    monkeypatch.setattr(memory, "MAP_HUGE_PAGES", 0)  # usual pages, so that none need to be set aside here
    monkeypatch.setattr(memory, "huge_pages", lambda: set_aside)
    monkeypatch.setattr(store, "huge_pages", lambda: set_aside)
    monkeypatch.setattr(table, "take_huge_pages", take)
    monkeypatch.setattr(regions, "take_huge_pages", take)
    monkeypatch.setattr(store, "LEAST_FOR_HUGE_PAGES", 0)
    tight = search(Resources(memory=MEMORY, disk=tmp_path), 2, LARGE)
    most = min(set_aside, MEMORY)
    assert most - 3 * HUGE_PAGE < sum(taken) <= most
    assert len(taken) == 3
    assert all(taken)
    assert tight.disk_bytes > HUGE_PAGE
    assert tight.disk_bytes % HUGE_PAGE == 0
    assert tight.sizes == roomy.found.sizes
    assert states(tight) == roomy.states
    assert paths(tight) == roomy.paths


def test_without_disk_a_search_that_is_too_large_says_what_it_held_and_what_to_do() -> None:
    with pytest.raises(OutOfRoom) as full:
        search(Resources(memory=LEAST_MEMORY, spill=False), faults=LARGE)
    held = re.fullmatch(
        r"32 MiB of memory are too little for the (?:states|hash table): ([\d,]+) states were found, \S+ MiB of them "
        r"in memory, and \S+ MiB of hash table; give more \(--memory\), or let states go to the disk "
        r"\(without --disk none\), or keep fingerprints only \(--engine fingerprints\)",
        str(full.value),
    )
    assert held is not None, str(full.value)
    assert int(held[1].replace(",", "")) > 0.9 * LEAST_MEMORY / (STATE_BYTES + 8 / 0.65)
    assert full.value.exit_code == 255


MEASURED = """
import sys
from pathlib import Path
from model_check.explicit.state_store.resources import Resources
from model_check.explicit.search import explore
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.sampled import sampled

def resident(_=None):
    lines = Path("/proc/self/status").read_text().splitlines()
    kib = {line.split()[0]: int(line.split()[1]) for line in lines if line.startswith("Rss")}
    anonymous.append(kib["RssAnon:"] << 10)
    taken.append(kib["RssAnon:"] + kib["RssFile:"] << 10)

anonymous, taken = [], []
arguments = TRANSACTIONAL_MESSAGES, World.of("5.3.3", ["bad_store_status", "clock_step"], "small").constants
explore(*arguments, most_states=1000)
resident()
explore(*arguments, report=resident, resources=Resources(memory=int(sys.argv[1])))
print(max(anonymous) - anonymous[0], max(taken) - taken[0])
"""


def test_the_process_takes_no_more_memory_than_it_is_given() -> None:
    """The states and the table of the whole search take 76 MB and more.

    What one call of the kernel reads of the files stays mapped until it is over; the system can take it at any time.
    """
    told = subprocess.run(
        [sys.executable, "-c", MEASURED, str(LEAST_MEMORY)], capture_output=True, text=True, check=True
    )
    anonymous, taken = map(int, told.stdout.split())
    others = 8 << 20  # buffers, and what Python itself takes meanwhile
    assert anonymous < LEAST_MEMORY + others
    read_by_a_call = 2 * others
    assert taken < LEAST_MEMORY + others + read_by_a_call


LIMITED = """
import resource, sys
from halfcheck.app import run
from tests.sampled import sampled
resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
sys.exit(run(sys.argv[1:]))
"""
WORLD = World.of("5.3.3", ["clock_step"], "small")
COMMAND = ["check", *WORLD.options.split(), "--json"]


def test_a_full_disk_is_one_clear_line_and_a_checkpoint_survives_it(tmp_path: Path) -> None:
    limited: list[str | Path] = [sys.executable, "-c", LIMITED, *COMMAND, "--memory", "32M"]
    full = subprocess.run([*limited, "--disk", tmp_path], capture_output=True, text=True, check=False)
    assert (full.returncode, full.stdout) == (255, "")
    assert re.fullmatch(
        rf"halfcheck: {tmp_path}: File too large where states are kept, [\d,]{{6,}} states were found: "
        r"make room, or give a folder with more \(--disk DIR\)\n",
        full.stderr,
    )
    assert not list(tmp_path.iterdir())

    folder = tmp_path / "checkpoint"
    saved = [*limited, "--checkpoint", folder, "--checkpoint-every", "0"]
    full = subprocess.run(saved, capture_output=True, text=True, check=False)
    assert (full.returncode, full.stdout) == (255, "")
    kept = json.loads((folder / "checkpoint.json").read_text())["distinct"]
    assert full.stderr == (
        f"halfcheck: {folder}: File too large where states are kept; the checkpoint in {folder} with {kept:,} states "
        "is whole: make room and go on with --resume\n"
    )
    assert 1000 < kept <= (4 << 20) // STATE_BYTES

    command: list[str | Path] = [sys.executable, "-m", "halfcheck", *COMMAND, "--checkpoint", folder, "--resume"]
    resumed = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert resumed["resumed_from"] == kept
    entry = VerdictFiles().table().of(WORLD.profile, WORLD.instance)[WORLD.environment]
    assert (resumed["distinct"], resumed["generated"], resumed["depth"]) == (
        entry.distinct,
        entry.generated,
        entry.depth,
    )


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"memory": 1 << 20}, r"^1 MiB of memory are too little for a search: give 32 MiB or more$"),
        ({"disk": "d", "spill": False}, r"^a folder for states \(d\) and no disk contradict each other"),
        ({"disk": "d", "checkpoint": "c"}, r"^two folders for states, d and c: "),
        ({"resume": True}, r"^nothing to resume from: "),
        ({"checkpoint": "c", "checkpoint_every": -1.0}, r"^a checkpoint every -1 seconds: "),
        ({"fingerprint_bits": 65}, r"^fingerprints of 65 bits: give 1 to 64$"),
    ],
)
def test_resources_that_make_no_sense_are_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ModelCheckError, match=complaint) as refused:
        Resources(**given)
    assert refused.value.exit_code == 151


@pytest.mark.parametrize(("text", "size"), [("64M", 64 << 20), ("1.5g", 3 << 29), ("2 GiB", 2 << 30), ("100", 100)])
def test_sizes_are_read(text: str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "8X", "-1G", "G", "1,5G", "8 G B"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ModelCheckError, match=re.escape(f"no size: {text!r}; give a number with K, M, G or T")):
        bytes_of(text)


def test_reading_beyond_a_file_ends_and_names_it(tmp_path: Path) -> None:
    files = StateFiles(tmp_path, 1, keep=True)
    files.append(0, memoryview(b"12345678"))
    into = bytearray(4)
    files.read(0, 2, memoryview(into))
    assert into == b"3456"
    with pytest.raises(EOFError, match=r"states\.0$"):
        files.read(0, 6, memoryview(into))
