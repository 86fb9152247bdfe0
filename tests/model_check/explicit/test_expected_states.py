"""The estimate of a search's size, on the level sizes of real searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check.explicit.exploration import expected_states
from model_check.explicit.search import explore

if TYPE_CHECKING:
    from model_check.explicit.search import Progress

RECORDED = {
    "small check service": [
        1, 2, 14, 62, 217, 634, 1597, 3623, 7663, 15436, 29129, 51426, 86450, 138538, 216177, 318366, 439569, 564275,
        669855, 709756, 644616, 525032, 394442, 267802, 160789, 88325, 44759, 23461, 13724, 8760, 4718, 2281, 1109, 616,
        320, 108, 14,
    ],
    "a small instance": [
        1, 4, 16, 76, 264, 763, 1741, 3334, 5769, 9518, 15166, 23093, 32907, 43421, 53264, 60803, 65394, 67325, 66795,
        64604, 62225, 59872, 56081, 50081, 42124, 33357, 24817, 17108, 10734, 6038, 3009, 1353, 573, 231, 87, 33, 11, 2,
    ],
    "a medium instance": [
        1, 4, 16, 76, 264, 763, 1742, 3344, 5827, 9771, 16027, 25551, 38927, 56217, 77828, 103623, 133058, 166551,
        204104, 245068, 289819, 338407, 388827, 438177, 483948, 523599, 552999, 568215, 566522, 547993, 513324, 465222,
        406998, 341897, 274418, 208682, 148676, 98324, 60072, 34075, 18146, 9152, 4391, 2033, 942, 425, 182, 81, 34, 11,
        2,
    ],
    "three transactions": [
        1, 3, 7, 29, 93, 303, 907, 2408, 5521, 10789, 18222, 28017, 40589, 57328, 80875, 116299, 171746, 257546, 384649,
        562314, 796022, 1085570, 1424831, 1801949, 2201805, 2607488, 3000129, 3359484, 3663948, 3892717, 4029326,
        4063754, 3991178, 3809570, 3520921, 3134224, 2672571, 2171406, 1673309, 1218853, 837634, 543741, 335437, 198892,
        115026, 65925, 37939, 21890, 12407, 6731, 3431, 1675, 841, 447, 233, 102, 30, 4,
    ],
}  # fmt: skip
"""Level sizes of real searches: the yardstick, and the specification in three sizes with one fault."""


@pytest.mark.parametrize("search", list(RECORDED))
def test_the_estimate_comes_with_the_widest_level_and_is_never_far_off(search: str) -> None:
    sizes = RECORDED[search]
    total, widest = sum(sizes), sizes.index(max(sizes))
    shares = [(sum(sizes[:n]) / total, expected_states(sizes[:n])) for n in range(1, len(sizes) + 1)]
    assert all(guess is None for share, guess in shares if share < 0.1)
    assert all(1 / 2 < guess / total < 2 for _, guess in shares if guess is not None)
    after_widest = [guess for _, guess in shares[widest:]]
    assert all(guess is not None and 0.7 < guess / total < 1.3 for guess in after_widest)
    assert all(guess is not None and 0.95 < guess / total < 1.05 for share, guess in shares if share > 0.9)


def test_a_search_that_keeps_growing_is_not_guessed() -> None:
    assert expected_states([2**n for n in range(40)]) is None
    assert expected_states([1] * 40) is None


def test_progress_says_what_is_left_once_the_levels_shrink(compiled_instance: str) -> None:
    seen: list[Progress] = []
    found = explore(TWO_PHASE_COMMIT, Constants(resource_managers=7), report=seen.append)
    guessed = [p for p in seen if p.expected is not None]
    assert seen[0].expected is None
    assert seen[0].seconds_left is None
    assert all(p.expected is not None and p.expected >= p.distinct for p in guessed)
    assert guessed[-1].expected == found.distinct
    assert guessed[-1].seconds_left == 0


@pytest.fixture(params=["two_phase_commit"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """The test runs on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)
