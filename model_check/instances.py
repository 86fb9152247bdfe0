"""Instances by their names, and from files; and whether any engine can search one."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, replace
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from files.content import parse_toml
from files.errors import BadContentError
from files.reading import SETTINGS_BYTES, read_text
from model_check.did_you_mean import require_known
from model_check.errors import BadFile, ModelCheckError
from spec.constants import Instance

if TYPE_CHECKING:
    from spec.language import Machine

MOST_STEPS: Final = 2_000
"""The most steps of an instance; the largest that comes with the specification has 564."""


@cache
def instance_names() -> tuple[str, ...]:
    """The instances that come with the specification, smallest first."""
    found = {path.name.removesuffix(".toml") for path in resources.files("spec").joinpath("instances").iterdir()}
    order = ("tiny", "patient", "odd", "skewed", "deep", "small", "trio", "medium", "large", "shared")
    return tuple(sorted(found, key=lambda name: (order.index(name) if name in order else len(order), name)))


def load_instance(name: str) -> Instance:
    """An instance by its name, or by the path of a TOML file with the fields of `spec.constants.Instance`.

    A name with sizes, as in `lasting@2x7x4`, is that instance with so many transactions, halves and op messages, and
    without forgetting: counterexamples of instances that forget are given there. Raises `ModelCheckError` when there is
    no instance of that name, and `BadFile` when the file is not TOML, or a field is missing, unknown, of the wrong type
    or out of its range.
    """
    if (sized := re.fullmatch(r"(\w+)@([0-9]{1,3})x([0-9]{1,3})x([0-9]{1,3})", name)) and sized[1] in instance_names():
        transactions, halves, ops = sizes = tuple(map(int, sized.groups()[1:]))
        if not all(1 <= size <= _MOST for size in sizes):
            msg = f"instance {name}: give NAME@TRANSACTIONSxHALVESxOPS, each from 1 to {_MOST}"
            raise ModelCheckError(msg)
        own = load_instance(sized[1])
        return replace(own, name=name, crowded=0, forgets=0, transactions=transactions, half_slots=halves, op_slots=ops)
    if name in instance_names():
        return _supplied(name)
    path = Path(name)
    if path.suffix != ".toml":
        there = f"{', '.join(instance_names())}, or give the path of a .toml file"
        require_known("instance", name, instance_names(), there=there)
    try:
        text = read_text(path, SETTINGS_BYTES)
    except OSError as error:
        msg = f"instance file {name}: {error.strerror}"
        raise BadFile(msg) from error
    except BadContentError as error:
        msg = f"instance file {error}"
        raise BadFile(msg) from error
    return _instance(name, text)


@cache
def _supplied(name: str) -> Instance:
    return _instance(name, resources.files("spec").joinpath("instances", f"{name}.toml").read_text(encoding="utf-8"))


def refuse_forgetting(constants: object, who: str) -> None:
    """Refuse an instance that forgets, where what is said of it would be of one that does not.

    Raises `ModelCheckError`, which names an instance of the same sizes that forgets nothing.
    """
    if isinstance(constants, Instance) and constants.forgets:
        plain = f"{constants.name}@{constants.transactions}x{constants.half_slots}x{constants.op_slots}"
        msg = f"instance {constants.name} forgets what is over, and {who} never does: give {plain}, or another instance"
        raise ModelCheckError(msg)


def refuse_crowd(constants: object, why: str) -> None:
    """Refuse one transaction among any number of others, where that makes no sense.

    Raises `ModelCheckError`, which says why, and names an instance of the same sizes without others.
    """
    if isinstance(constants, Instance) and constants.crowded:
        sizes = f"{constants.name}@{constants.transactions}x{constants.half_slots}x{constants.op_slots}"
        alone = sizes if constants.name in instance_names() else "one with crowded = 0"
        msg = (
            f"instance {constants.name} has one transaction among any number of others, and {why}: "
            f"give {alone}, or another instance"
        )
        raise ModelCheckError(msg)


_LEAST = {
    "check_max": 1,
    "timeout": 0,
    "check_interval": 0,
    "round_limit": 0,
    "op_batch_interval": 0,
    "reserved_time": -1,
    "clock_steps": 0,
    "mishaps": 0,
    "stray_ends": 0,
    "crashes": -1,
    "reach": -1,
    "persist_interval": -1,
    "forgets": 0,
    "expires": 0,
    "endless": 0,
    "crowded": 0,
    "proxies": 0,
    "data_life": 0,
}
_LISTS = {"immunities": -1, "first_checks": 0, "skews": -62}
_MOST = 62
_MOST_OF = {
    "clock_steps": 1,
    "forgets": 1,
    "expires": 1,
    "endless": 1,
    "crowded": 1,
}  # ages are kept for a single step back of the clock; see `spec.language.fields.instant`


def _instance(name: str, text: str) -> Instance:
    try:
        given = parse_toml(text)
    except BadContentError as error:
        msg = f"instance file {name}: {error}"
        raise BadFile(msg) from error
    declared = [f for f in fields(Instance) if f.name != "name"]
    wanted = [f.name for f in declared]
    for field in (f.name for f in declared if f.default is MISSING):
        if field not in given:
            msg = f"instance file {name}: {field} is missing"
            raise BadFile(msg)
    for field, value in given.items():
        if field not in wanted:
            msg = f"instance file {name}: unknown field {field!r}; there are {', '.join(wanted)}"
            raise BadFile(msg)
        if field in _LISTS:
            _check_list(field, value, name)
        elif type(value) is not int or not _LEAST.get(field, 1) <= value <= _MOST_OF.get(field, _MOST):
            least, most = _LEAST.get(field, 1), _MOST_OF.get(field, _MOST)
            msg = f"instance file {name}: {field} = {value!r} is not a whole number from {least} to {most}"
            raise BadFile(msg)
    too_many = [checks for checks in given.get("first_checks", []) if checks > given["check_max"]]
    if too_many:
        msg = (
            f"instance file {name}: first_checks = {given['first_checks']!r} has more than check_max allows, "
            f"which is {given['check_max']}"
        )
        raise BadFile(msg)
    if given.get("crowded") and given["transactions"] > 1:
        msg = (
            f"instance file {name}: crowded = 1 has one transaction among any number of others; "
            f"transactions = {given['transactions']} is to be 1"
        )
        raise BadFile(msg)
    if given.get("crowded") and given.get("proxies"):
        msg = (
            f"instance file {name}: crowded = 1 has producers that speak to the broker itself; "
            f"proxies = {given['proxies']} is to be 0"
        )
        raise BadFile(msg)
    sizes: dict[str, Any] = {field: tuple(v) if field in _LISTS else v for field, v in given.items()}
    return Instance(name=name, **sizes)


def _check_list(field: str, value: object, name: str) -> None:
    least = _LISTS[field]
    is_good = isinstance(value, list) and value and all(type(v) is int and least <= v <= _MOST for v in value)
    if not is_good:
        msg = f"instance file {name}: {field} = {value!r} is not a list of whole numbers from {least} to {_MOST}"
        raise BadFile(msg)


def require_searchable(machine: Machine, constants: object) -> None:
    """Refuse an instance that would be compiled for minutes and searched for ever.

    Raises `ModelCheckError` if it has more than :data:`MOST_STEPS` steps.
    """
    if len(list(islice(machine.steps(constants), MOST_STEPS + 1))) > MOST_STEPS:
        message = (
            f"instance {getattr(constants, 'name', '')}: more than {MOST_STEPS:,} steps may be taken in it; "
            "make its sizes smaller, above all transactions, half_slots, op_slots and immunities"
        )
        raise ModelCheckError(message)
