"""Configurations drawn at random: times of all sorts, equal ones and multiples, immunities, limits, faults."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from model_check.configuration import Configuration
from model_check.world import Environment
from spec.profiles import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = (1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 15, 18, 20, 29, 30, 31, 45, 60, 61, 90, 120, 450, 600, 3_600)
FAULTS = ((), (), (), (), (), ("slow_local",), ("late_end",), ("lose_end",), ("lose_check",), ("crash",))


class Drawn(NamedTuple):
    """A configuration and its environment."""

    configuration: Configuration
    environment: Environment


def drawn(chance: Random) -> Drawn:
    """One with what its times have in common; an immunity is a whole number of seconds, as messages carry it."""
    version = chance.choice(VERSIONS)
    base = chance.choice(SECONDS[:14])
    near = [base, base + 1, max(1, base - 1), 2 * base, 3 * base, 5 * base]

    def some_ms() -> int:
        seconds = chance.choice(near) if chance.random() < 0.5 else chance.choice(SECONDS)
        return 1_000 * seconds + chance.choice((0, 0, 0, 0, 1, -1))

    given = {
        name: chance.choice((None, some_ms()))
        for name in ("timeout_ms", "check_interval_ms", "op_batch_interval_ms", "local_ms")
    }
    immunities = tuple(sorted({1_000 * round(some_ms() / 1_000) for _ in range(chance.choice((0, 1, 1, 1, 2)))}))
    configuration = Configuration.of_release(version, check_max=chance.choice((1, 2, 2, 3, 5, 15)), **given)
    configuration = replace(configuration, immunities_ms=immunities)
    if chance.random() < 0.1:
        kept = chance.choice((configuration.timeout_ms, configuration.oldest_ms // 2))
        configuration = replace(configuration, file_reserved_ms=max(kept, 1_000))
    return Drawn(configuration, Environment.of(chance.choice(FAULTS)))


def all_drawn(seed: int, count: int) -> list[Drawn]:
    """So many of them."""
    chance = Random(seed)
    return [drawn(chance) for _ in range(count)]


def restricted(configuration: Configuration) -> Iterator[tuple[str, Configuration]]:
    """Each with something that only takes behaviours away: fewer immunities, or a limit on local transactions.

    A limit that is longer than the timeout and all immunities takes nothing away and adds nothing, in the quiet world.
    """
    for immunity in configuration.immunities_ms:
        rest = tuple(one for one in configuration.immunities_ms if one != immunity)
        yield f"without the immunity of {immunity} ms", replace(configuration, immunities_ms=rest)
    if configuration.local_ms is None:
        for limit in (configuration.timeout_ms // 3, configuration.timeout_ms):
            yield f"with --local {limit}ms", replace(configuration, local_ms=max(limit, 1))
    else:
        yield "with a shorter --local", replace(configuration, local_ms=max(configuration.local_ms // 2, 1))
