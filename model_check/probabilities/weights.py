"""The weights of actions: how likely each is among the steps that are enabled; from a table, or a file.

A step is taken with the probability that its weight has among the weights of all enabled steps. Of two steps that stay
enabled, one is taken before the other with a probability that no third step changes. So an action that is enabled waits
for a geometric number of ticks, whose mean is the weight of `tick` divided by its own; and of a request that may be
lost or arrive, the share that is lost is the weight of the loss divided by the sum of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isfinite, lcm
from typing import TYPE_CHECKING, Any, Final

from files.content import parse_toml
from files.errors import BadContentError
from files.reading import SETTINGS_BYTES, read_text
from model_check.did_you_mean import require_known
from model_check.errors import BadFile, ModelCheckError
from model_check.walks.choices import fault_actions, usual_weights
from spec.chapters import broker

if TYPE_CHECKING:
    from pathlib import Path

MOST: Final = 1 << 40
"""The largest weight as a whole number: sums of a thousand are exact as floating-point numbers."""

TICK: Final = broker.tick.__name__
KEYS: Final = ("ordinary", "fault", "weights", "mean_ticks")


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight for each action of the specification."""

    name: str
    """Where they come from: the path of a file, or `weighted`, the choice of walks that has them."""
    whole: Mapping[str, int]
    """Action → weight, as the smallest whole numbers of these proportions."""
    unit: Fraction
    """What 1 of `whole` is in the numbers that were given."""

    def to_json(self) -> dict[str, Any]:
        """The weights as plain data, in the numbers that were given."""
        return {"name": self.name, "actions": {name: float(weight * self.unit) for name, weight in self.whole.items()}}


def usual() -> Weights:
    """Those of `halfcheck simulate --choice weighted`."""
    return _in_whole_numbers("weighted", {name: Fraction(weight) for name, weight in usual_weights().items()})


def read_weights(path: Path) -> Weights:
    """The weights of a TOML file.

    Its table `weights` has weights of actions by their names; `mean_ticks` has for others the mean number of ticks that
    they wait while they are enabled. `fault` is the weight of each other action that only an environment with faults
    allows, `ordinary` that of all that is left. What is in none of these has its usual weight.

    Raises
    ------
    BadFile
        It cannot be read, is not TOML, or has an unknown key or action, or a number that is not positive.
    """
    try:
        given = parse_toml(read_text(path, SETTINGS_BYTES))
    except OSError as error:
        message = f"weights file {path}: {error.strerror}"
        raise BadFile(message) from error
    except BadContentError as error:
        message = f"weights file {path}: {str(error).removeprefix(f'{path}: ')}"
        raise BadFile(message) from error
    try:
        return _in_whole_numbers(str(path), _weights_in(given))
    except ModelCheckError as error:
        message = f"weights file {path}: {error}"
        raise BadFile(message) from error


def _weights_in(given: Mapping[str, object]) -> dict[str, Fraction]:
    for key in given:
        require_known("key", key, KEYS)
    weights = {name: Fraction(weight) for name, weight in usual_weights().items()}
    for key in ("ordinary", "fault"):
        if key in given:
            weight = _positive(key, given[key])
            weights |= {name: weight for name in weights if (name in fault_actions()) is (key == "fault")}
    own = _table("weights", given)
    weights |= own
    for name, ticks in _table("mean_ticks", given).items():
        if name in own:
            message = f"{name} has a weight and mean_ticks: give one of them"
            raise ModelCheckError(message)
        if name == TICK:
            message = f"mean_ticks.{TICK}: time is what the others wait for; give weights.{TICK}"
            raise ModelCheckError(message)
        weights[name] = weights[TICK] / ticks
    return weights


def _table(key: str, given: Mapping[str, object]) -> dict[str, Fraction]:
    table = given.get(key, {})
    if not isinstance(table, Mapping):
        message = f"{key} = {table!r} is no table: write [{key}], and below it a line such as {TICK} = 12"
        raise ModelCheckError(message)
    for name in table:
        require_known("action", name, usual_weights(), listed_by="halfcheck coverage")
    return {name: _positive(f"{key}.{name}", value) for name, value in table.items()}


def _positive(what: str, value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value <= 0:
        message = f"{what} = {value!r} is not a positive number; leave a fault that is not to happen out of --faults"
        raise ModelCheckError(message)
    return Fraction(repr(value))  # as it was written, and not the nearest binary number


def _in_whole_numbers(name: str, weights: Mapping[str, Fraction]) -> Weights:
    unit = Fraction(gcd(*(w.numerator for w in weights.values())), lcm(*(w.denominator for w in weights.values())))
    whole = {action: int(weight / unit) for action, weight in weights.items()}
    if max(whole.values()) > MOST:
        message = (
            f"the weights are too far apart, or have too many digits: {max(whole, key=whole.__getitem__)} is "
            f"{float(max(whole.values())):.0e} times their common unit, {MOST:.0e} at most; round them"
        )
        raise ModelCheckError(message)
    return Weights(name, whole, unit)
