"""Ticks keep every order that is declared, and no smaller ones do: counted by hand, and by trying all of them."""

from itertools import combinations, permutations, product
from typing import Any

import pytest

from model_check.broker_conf.configuration import Configuration, read_duration
from model_check.broker_conf.ticks import MOST_TICKS, Quotient, quotient_of
from model_check.errors import ModelCheckError
from model_check.instances import load_instance

pytestmark = pytest.mark.untraced

BATCHES = ("batches_ops",)


def quotient(base: str = "deep", on: tuple[str, ...] = BATCHES, **settings: Any) -> Quotient:
    return quotient_of(Configuration.of_release("5.3.3", **settings), load_instance(base), on)


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


def keeps_order(
    real: dict[str, int], ticks: dict[str, int], check_max: tuple[int, int], rounds_take_time: bool
) -> bool:
    """The declared comparisons once more, written out: what the guards say of a half, an op and a round."""
    ages = [name for name in real if name.startswith(("timeout", "immunity", "local"))]

    def alike(left: dict[str, int], right: dict[str, int], scaled: dict[str, int] | None = None) -> bool:
        def value(sum_: dict[str, int], times: dict[str, int]) -> int:
            return sum(factor * times[name] for name, factor in sum_.items())

        return sign(value(left, real) - value(right, real)) == sign(value(scaled or left, ticks) - value(right, ticks))

    batch, interval, limit = "op batch interval", "check interval", "round limit"
    checks = (0, 1) if check_max[1] > 2 else (0,)
    rounds = ({interval: 1}, {batch: 1}, {batch: 2}, *([{limit: 1}] if rounds_take_time else []))
    return all(
        (
            *(alike({one: 1}, {other: 1}) for one, other in combinations(ages, 2)),
            *(alike({one: 1, batch: k}, {other: 1}) for one, other in permutations(ages, 2) for k in (1, 2)),
            *(alike({one: 1, batch: k}, {interval: 1}) for one in ages for k in (1, 2)),
            *(alike(duration, {one: 1}) for one in ages for duration in rounds),
            *(alike(duration, {interval: 1}) for duration in rounds[1:]),
            *(
                alike({interval: check_max[0] - less}, {one: 1}, {interval: check_max[1] - less})
                for one in ages
                if one.startswith("immunity")
                for less in checks
            ),
        )
    )


@pytest.mark.parametrize(
    ("settings", "base", "on"),
    [
        ({}, "tiny", BATCHES),
        ({"immunities_ms": (60_000,)}, "deep", BATCHES),
        pytest.param({"immunities_ms": (16 * 60_000,)}, "tiny", BATCHES, marks=pytest.mark.sweep),
        ({"immunities_ms": (5_000,), "check_interval_ms": 60_000}, "tiny", BATCHES),
        ({"local_ms": 1_000, "op_batch_interval_ms": 10}, "tiny", BATCHES),
        ({"immunities_ms": (30_000,)}, "deep", (*BATCHES, "slow_round")),
    ],
)
def test_no_smaller_ticks_keep_the_orders(settings: dict[str, object], base: str, on: tuple[str, ...]) -> None:
    found = quotient(base, on, **settings)
    names = list(found.real_ms)
    largest = max(found.ticks.values())
    smallest = min(
        (max(tried), *tried)
        for tried in product(range(1, largest + 1), repeat=len(names))
        if keeps_order(found.real_ms, dict(zip(names, tried, strict=True)), found.check_max, "slow_round" in on)
    )
    assert tuple(found.ticks[name] for name in names) == smallest[1:]


def test_the_instance_has_the_sizes_that_were_asked_for_and_these_ticks() -> None:
    found = quotient("deep", immunities_ms=(60_000,), op_message_max_size=3)
    instance, base = found.instance, load_instance("deep")
    assert (instance.transactions, instance.half_slots, instance.op_slots) == (1, base.half_slots, base.op_slots)
    assert (instance.timeout, instance.immunities, instance.check_interval) == (2, (-1, 6), 5)
    assert (instance.op_batch_interval, instance.op_batch_size) == (1, 2)
    assert "transactionCheckMax=3 (really 15)" in found.sentence()
    assert "14 × check interval > immunity of 1 min" in found.sentence()


def test_what_no_switch_makes_matter_is_not_compared() -> None:
    told = quotient("tiny", ()).sentence()
    assert "batch" not in told
    assert "round limit" not in told
    assert "round limit > timeout" in quotient("tiny", ("slow_round",)).sentence()


def test_times_that_need_too_many_ticks_are_refused_by_name() -> None:
    immunities = tuple(range(20_000, 20_000 + 25 * 7_000, 7_000))
    with pytest.raises(ModelCheckError, match=rf"at most {MOST_TICKS} ticks.*immunity of 20 s 20 s.*give fewer"):
        quotient(immunities_ms=immunities)


@pytest.mark.parametrize("text", ["60", "1.5s", "-1s", "0s", "s", "60 s", "1d", ""])
def test_a_duration_without_a_unit_or_sense_is_refused(text: str) -> None:
    with pytest.raises(ModelCheckError, match=r"--immunity .*: expected a whole number with a unit, such as 500ms"):
        read_duration("--immunity", text)
