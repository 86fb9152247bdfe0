from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import njit

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check.explicit.code_generation.compile import HEADER, compile_machine, load_generated
from model_check.explicit.kernel_texts.records import Buffers, Store
from model_check.explicit.state_store.hash_table import LARGE, LINE, LOAD, SLOW_GROWTH, HashTable
from model_check.explicit.state_store.store import StateStore
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from types import ModuleType

MASK = (1 << 64) - 1


@cache
def entry(inlined: Any) -> Any:
    """An inlined kernel for Python to call; of itself it has no entry."""
    return njit(inlined.py_func)


@pytest.fixture(autouse=True, params=["two_phase_commit"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    return compile_machine(TWO_PHASE_COMMIT, Constants(resource_managers=7)).module


def multilinear(numbers: list[int], words: list[int]) -> int:
    """The hash as its definition says it, in Python's own integers."""
    total = numbers[0] + (numbers[1] << 64)
    for i, word in enumerate(words):
        total += (numbers[2 + 2 * i] + (numbers[3 + 2 * i] << 64)) * word
    high = total >> 64 & MASK
    high = (high ^ high >> 32) * 0xD6E8FEB86659FD93 & MASK
    return high ^ high >> 29


def test_the_hash_is_the_multilinear_one(kernels: ModuleType) -> None:
    numbers = [int(n) for n in kernels.NUMBERS]
    generator = np.random.default_rng(1)
    words = generator.integers(0, 1 << 63, 100, dtype=np.int64)
    words[:3] = 0, -1, 1
    for word in words:
        expected = multilinear(numbers, [int(word) & MASK])
        assert int(entry(kernels.hash_of)(np.array([word], dtype=np.int64), 0)) == expected


def test_splitmix_gives_its_published_numbers(kernels: ModuleType) -> None:
    """The first output for the seed 0x243F6A8885A308D3, taken step by step."""
    z = 0x243F6A8885A308D3 + 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    assert int(kernels.NUMBERS[0]) == z ^ z >> 31
    assert len({int(n) for n in kernels.random_numbers(1000)}) == 1000


def test_a_state_of_one_word_is_its_own_hash(kernels: ModuleType) -> None:
    """What `whole` does is undone, step by step; only a word that is no state gives 0, the empty slot."""
    assert kernels.WHOLE
    generator = np.random.default_rng(3)
    words = [0, 1, (1 << 63) - 1, *map(int, generator.integers(0, 1 << 63, 1000))]
    for word in words:
        assert word_of(int(entry(kernels.whole)(np.int64(word)))) == word
    assert entry(kernels.whole)(np.int64(-1 << 63)) == 0


def word_of(key: int) -> int:
    """What `whole` makes a key of."""
    z = key * pow(0x94D049BB133111EB, -1, 1 << 64) & MASK
    z = (z ^ z >> 32) * pow(0xD6E8FEB86659FD93, -1, 1 << 64) & MASK
    return z ^ 1 << 63


def test_only_what_was_seen_last_in_its_place_is_dropped(seen_lately: ModuleType) -> None:
    """The filter beside one of dictionaries; states differ in one word or several, and many want one place."""
    kernels, width = seen_lately, seen_lately.WORDS
    states = np.random.default_rng(3).integers(0, 1 << 60, (3_000, width), dtype=np.int64)
    for word in range(width):  # states that differ from the first one by a bit
        states[word * 60 : word * 60 + 60] = states[-1]
        states[word * 60 : word * 60 + 60, word] ^= np.int64(1) << np.arange(60, dtype=np.int64)
    keys = [int(entry(kernels.key_of)(state, 0, np.uint64(0))) for state in states]
    places = [key >> 32 & kernels.RECENT - 1 for key in keys]
    crowded = [x for x in range(len(states)) if places[x] == places[x % 3]] + list(range(width * 60))
    successors = [int(x) for x in np.random.default_rng(4).choice(crowded, 2_000)]
    successors += [x for pair in pairwise(successors) for x in (*pair, pair[0])]
    last: dict[int, int] = {}
    expected = []
    for x in successors:
        expected += [x] if last.get(places[x]) != x else []
        last[places[x]] = x
    assert len(expected) < len(successors)

    found = states[successors].reshape(-1)
    hashes, recent = np.zeros(len(successors), dtype=np.uint64), np.zeros(kernels.RECENT * width, dtype=np.int64)
    store = Store(found, 0, 0, np.zeros(64, dtype=np.uint64), np.uint64(0))
    nothing = np.zeros(0, dtype=np.int64)
    buffers = Buffers(found, np.zeros(0, dtype=np.int32), nothing, nothing, hashes, nothing, recent)
    left = entry(kernels.drop_recent)(len(successors), store, buffers)
    assert found[: left * width].tolist() == states[expected].reshape(-1).tolist()
    assert hashes[:left].tolist() == [keys[x] for x in expected]


@pytest.fixture(params=["one word", "several words"])
def seen_lately(request: pytest.FixtureRequest, kernels: ModuleType) -> ModuleType:
    if request.param == "one word":
        return kernels
    return compile_machine(TRANSACTIONAL_MESSAGES, World.of("5.3.3", (), "tiny").constants).module


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_filter_holds_at_its_start_is_stored(threads: int) -> None:
    """Of a resumed search, too; else a state would be dropped that nobody has stored."""
    constants = World.of("5.3.3", (), "tiny").constants
    compiled = compile_machine(TRANSACTIONAL_MESSAGES, constants)
    store = StateStore(compiled, threads)
    first = compiled.packing.pack(TRANSACTIONAL_MESSAGES.initial(constants).canonical()) + 1
    store.enter_first(first, compiled.switches(constants))
    for buffers in store._buffers:
        assert buffers.recent.tolist() == first.tolist() * compiled.module.RECENT


@pytest.mark.parametrize("regions", [0, 1])
def test_a_slot_is_taken_where_no_other_thread_has_taken_it(kernels: ModuleType, regions: int) -> None:
    table = np.zeros(8, dtype=np.uint64)
    assert entry(kernels.claim_slot)(table, 3, np.uint64(7), regions) == 0
    assert table.tolist() == [0, 0, 0, 7, 0, 0, 0, 0]
    if regions:
        assert entry(kernels.claim_slot)(table, 3, np.uint64(8), regions) == table[3] == 7


def test_behind_the_last_line_comes_the_first(kernels: ModuleType) -> None:
    full, with_room = 0, 1 << LINE + 3 | 1 << LINE + 5
    assert [entry(kernels.first_empty)(with_room, place, 64) for place in (0, 48, 56)] == [3, 51, 59]
    assert [entry(kernels.first_empty)(full, place, 64) for place in (0, 48, 56)] == [8, 56, 0]


def test_states_differ_by_a_bit_of_any_word() -> None:
    kernels = compile_machine(TRANSACTIONAL_MESSAGES, World.of("5.3.3", (), "tiny").constants).module
    words = np.arange(3 * kernels.WORDS, dtype=np.int64)
    others = np.concatenate([words[kernels.WORDS :], words[: kernels.WORDS]])
    assert kernels.WORDS > 1
    assert not entry(kernels.differs)(words, kernels.WORDS, others, 0)
    for word in range(kernels.WORDS):
        for bit in range(64):
            others[word] ^= np.int64(1) << bit
            assert entry(kernels.differs)(words, kernels.WORDS, others, 0) == 1
            others[word] ^= np.int64(1) << bit


LOOK = """
@compiled
def look(array, index, wanted, mask):
    return look_at_line(array, index, wanted, mask)
"""


@pytest.mark.parametrize("in_order", [True, False], ids=["by one load", "by eight atomic loads"])
def test_a_look_at_a_line_tells_equal_and_empty_slots(in_order: bool) -> None:
    intrinsics = (
        resources.files("model_check.explicit.kernel_texts").joinpath("intrinsics.py").read_text(encoding="utf-8")
    )
    text, replaced = re.subn("^LOADS_IN_ORDER = .*$", f"LOADS_IN_ORDER = {in_order}", intrinsics, flags=re.MULTILINE)
    assert replaced == 1
    look = load_generated(HEADER + text + LOOK).look
    generator = np.random.default_rng(4)
    for _ in range(200):
        slots = generator.integers(0, 3, 32, dtype=np.uint64) << np.uint64(32) | generator.integers(
            0, 2, 32, dtype=np.uint64
        )
        for mask in (MASK, MASK ^ 0xFFFFFFFF):
            wanted = int(generator.choice(slots)) & mask
            line = [int(slot) for slot in slots[16:24]]
            matches = sum(1 << i for i, slot in enumerate(line) if slot & mask == wanted)
            empty = sum(1 << i for i, slot in enumerate(line) if slot == 0)
            assert look(slots, 16, np.uint64(wanted), np.uint64(mask)) == matches | empty << 8


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("clustered", [False, True])
def test_entries_are_found_again_however_often_a_table_has_grown(
    kernels: ModuleType, clustered: bool, threads: int
) -> None:
    generator = np.random.default_rng(2)
    entries = generator.integers(1, 1 << 64, 8_000, dtype=np.uint64)
    if clustered:  # many with one place, at the low end and at the high end
        entries[:300] = np.arange(1, 301, dtype=np.uint64)
        entries[300:600] = np.uint64(MASK) - np.arange(300, dtype=np.uint64)
        middle = np.arange(300, dtype=np.uint64) << np.uint64(2)  # where the parts of threads meet
        entries[600:900], entries[900:1200] = (np.uint64(half << 62) + middle for half in (1, 2))
    entries = np.unique(entries)
    table = HashTable(8 << 20)
    kernels.insert_entries(entries, table.slots)
    with ThreadPoolExecutor(threads) as executor:
        while len(table.slots) < 1 << 20:
            table.grow(min(int(1.25 * len(table.slots)) // LINE * LINE, 1 << 20), kernels, executor, threads)
            assert_found(kernels, entries, table.slots)


def assert_found(kernels: ModuleType, entries: npt.NDArray[np.uint64], table: npt.NDArray[np.uint64]) -> None:
    assert np.array_equal(np.sort(table[table != 0]), entries)
    slots = len(table)
    places = np.flatnonzero(table)
    where = dict(zip(table[places].tolist(), places.tolist(), strict=True))
    for one in map(int, entries):
        home = ((one >> 32) * slots >> 32) // LINE * LINE
        assert entry(kernels.line_of)(np.uint64(one), slots) == home
        place = where[one]
        between = table[home:place] if home <= place else np.concatenate([table[home:], table[:place]])
        assert (between != 0).all()


def test_a_large_search_takes_at_most_16_bytes_a_state_for_its_table() -> None:
    table = HashTable(1 << 36)
    sizes = [len(table.slots)]
    while sizes[-1] < 1 << 29:
        grown = table.slots_for(int(LOAD * sizes[-1]) + 1, 1 << 36, 1 << 36)
        assert grown is not None
        sizes.append(grown)
        table.slots = np.lib.stride_tricks.as_strided(table.slots, (grown,))
    for before, after in pairwise(sizes):
        states = int(LOAD * before) + 1  # with which the table has just grown
        if states > 10_000_000:
            assert before >= LARGE
            assert 8 * after / states <= 16
    assert sizes[-1] * LOAD > 300_000_000


def test_a_table_that_may_not_grow_says_so() -> None:
    table = HashTable(1 << 20)
    room = 1 << 20
    assert table.slots_for(table.states, room, room) == len(table.slots) == 1 << 16
    assert table.slots_for(table.states + 1, room, room) == int(SLOW_GROWTH * (1 << 16)) // LINE * LINE
    assert table.slots_for(table.states + 1, 2 * room, 2 * room) == 1 << 17
    assert table.slots_for(table.states + 1, room, room // 2) is None
    assert table.slots_for(1 << 17, room, room) is None
    assert HashTable(1 << 25).slots_for(table.states + 1, 1 << 25, 1 << 25) == 1 << 18
    assert HashTable(room - 8).slots_for(table.states + 1, 1 << 25, 1 << 25) == (1 << 17) - LINE
