"""The states that TLC dumps, or shows in a trace, as the canonical states of the other engines."""

from __future__ import annotations

import re
from typing import Any

from spec.language import Kind, Machine, layout

TOKEN = re.compile(r'\s*("[^"]*"|-?\d+|\w+|\|->|:>|@@|<<|>>|[\[\](){},])')


def states_of(dump: str, machine: Machine, constants: object) -> set[tuple[int, ...]]:
    """Each state of a dump, its fields in the order of the machine's layout."""
    return set(states_in_order(dump, machine, constants))


def states_in_order(shown: str, machine: Machine, constants: object) -> list[tuple[int, ...]]:
    """The states of a dump or a trace, one after the other."""
    slots = layout(machine.state, constants)
    found = []
    for text in re.split(r"^State \d+:(?! Stuttering).*\n", shown, flags=re.MULTILINE)[1:]:
        lines = re.findall(r"^(?:/\\ )?(\w+) = (.*(?:\n(?!/\\).+)*)", text, flags=re.MULTILINE)
        variables = {name: read(value) for name, value in lines}
        variables = variables.get("state", variables)  # the one variable of a machine that forgets
        state = []
        for slot in slots:
            if slot.kind is Kind.CLOCK:
                state.append(slot.low)
                continue
            value = variables[slot.path[0]]
            if slot.index is not None and isinstance(value, dict) and slot.index in value:
                value = value[slot.index]
            if len(slot.path) > 1:
                value = value[slot.path[1]]
            if slot.index is not None and isinstance(value, dict):
                value = value[slot.index]
            state.append(sum(1 << i for i in value) if isinstance(value, frozenset) else number(value, slot.choices))
        found.append(tuple(state))
    return found


def number(value: Any, choices: Any) -> int:
    return int(choices[value]) if choices is not None else int(value)


def read(text: str) -> Any:
    """A value as TLC prints it."""
    tokens = TOKEN.findall(text)
    value, rest = _value(tokens)
    assert not rest, rest
    return value


def _value(tokens: list[str]) -> tuple[Any, list[str]]:
    first, rest = tokens[0], tokens[1:]
    if first == "[":
        return _entries(rest, "|->", "]")
    if first == "(":
        return _entries(rest, ":>", ")")
    if first in ("{", "<<"):
        close = {"{": "}", "<<": ">>"}[first]
        items = []
        while rest[0] != close:
            item, rest = _value(rest)
            items.append(item)
            rest = rest[1:] if rest[0] == "," else rest
        return (frozenset(items) if first == "{" else dict(enumerate(items, start=1))), rest[1:]
    if first.startswith('"'):
        return first.strip('"'), rest
    return {"TRUE": True, "FALSE": False}[first] if first.isalpha() else int(first), rest


def _entries(tokens: list[str], arrow: str, close: str) -> tuple[dict[Any, Any], list[str]]:
    found: dict[Any, Any] = {}
    while tokens[0] != close:
        key, (sign, *rest) = (tokens[0], tokens[1:]) if arrow == "|->" else _value(tokens)
        assert sign == arrow
        found[key], tokens = _value(rest)
        tokens = tokens[1:] if tokens[0] in (",", "@@") else tokens
    return found, tokens[1:]
