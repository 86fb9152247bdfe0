"""A default of RocketMQ stands in `spec/releases/broker_defaults.py`, and nowhere else beside a name that means it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spec.releases.broker_defaults import DEFAULTS, BrokerDefault

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).parents[2]
_PACKAGES = (
    "spec",
    "model_check",
    "reference",
    "fuzz",
    "html_report",
    "spark_trace_analysis",
    "conformance",
    "halfcheck",
    "traffic",
    "wire",
    "real_brokers",
)
_HOUR_MS = 3_600_000

_MEANT_BY = {
    "transactionTimeOut": "timeout(ms)?$",
    "transactionCheckMax": "checkmax$",
    "transactionCheckInterval": "checkinterval(ms)?$|^(default)?interval$",
    "transactionOpBatchInterval": "opbatchinterval(ms)?$",
    "transactionOpMsgMaxSize": "op(msg|message)?(max)?size$",
    "transactionMetricFlushInterval": "metricflushinterval",
    "flushConsumerOffsetInterval": "(flushconsumeroffset|save)interval",
    "fileReservedTime": "(file)?reserved(time|hours)?(ms)?$|^hours$",
    "mappedFileSizeCommitLog": "map(p)?edfilesize(commitlog)?$",
    "MAX_PROCESS_TIME_LIMIT": "processtimelimit|roundlimit",
    "MAX_RETRY_COUNT_WHEN_HALF_NULL": "retrycountwhenhalfnull",
    "OP_MSG_PULL_NUMS": "op(msg)?pull(nums|size)?$",
    "MAX_RETRY_TIMES_FOR_ESCAPE": "retrytimesforescape",
    "SLEEP_WHILE_NO_OP": "sleepwhilenoop",
    "op context queue": "opcontextqueue",
    "check pool": "checkpoollength",
    "first flush of consumer offsets": "flushconsumeroffsetdelay",
}
"""Default → how names that mean it look, in small letters without underscores. Truths are not numbers."""


def _values(default: BrokerDefault) -> set[int]:
    values = {value for _, value in default.since}
    return values | {value * _HOUR_MS for value in values} if default.unit == "hours" else values


_VALUES = {value for default in DEFAULTS for value in _values(default)}


def doubled(source: str) -> list[tuple[int, str]]:
    """The line and the default of each number in a source that stands beside a name that means its default.

    Examples
    --------
    >>> doubled("CHECK_MAX = 15"), doubled("ask(timeout_ms=6 * 1000)"), doubled("x = conf.check_interval or 60_000")
    ([(1, 'transactionCheckMax')], [(1, 'transactionTimeOut')], [(1, 'transactionCheckInterval')])
    >>> doubled("CHECK_MAX = 14"), doubled("width = 15")
    ([], [])
    """
    found = set()
    for line, names, number in _named_numbers(ast.parse(source)):
        for default in DEFAULTS:
            pattern = _MEANT_BY.get(default.name)
            if pattern and number in _values(default) and any(re.search(pattern, _plain(name)) for name in names):
                found.add((line, default.name))
    return sorted(found)


def _named_numbers(tree: ast.Module) -> Iterator[tuple[int, list[str], int]]:
    for node in ast.walk(tree):
        for beside, value in _named_values(node):
            for line, number in _numbers_of(value):
                if number in _VALUES:
                    yield line, [beside] if isinstance(beside, str) else _names_in(beside), number


def _named_values(node: ast.AST) -> Iterator[tuple[str | ast.AST, ast.expr]]:
    """Values, each with what stands beside it: what it is given to, or chosen among."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            yield from ((name, value) for name, value in zip(names, values, strict=False))
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.arguments(posonlyargs=first, args=more, defaults=values, kwonlyargs=last, kw_defaults=of_last):
            given = [*zip([*first, *more][::-1], values[::-1], strict=False), *zip(last, of_last, strict=True)]
            yield from ((argument.arg, value) for argument, value in given if value is not None)
        case ast.BoolOp(values=values) | ast.Call(args=values):
            yield from ((node, value) for value in values)
        case ast.Dict(keys=keys, values=values):
            yield from ((key, value) for key, value in zip(keys, values, strict=True) if key is not None)


def _numbers_of(value: ast.expr) -> Iterator[tuple[int, int]]:
    """The number that an expression is, or those of a conditional one, each with its line."""
    if isinstance(value, ast.IfExp):
        yield from _numbers_of(value.body)
        yield from _numbers_of(value.orelse)
    elif (number := _folded(value)) is not None:
        yield value.lineno, number


def _folded(node: ast.expr) -> int | None:
    """The value of numbers, and of names of units, that are multiplied or shifted."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        return {"_HOUR_MS": _HOUR_MS, "SECOND_MS": 1000}.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.LShift)):
        left, right = _folded(node.left), _folded(node.right)
        if left is not None and right is not None:
            return left * right if isinstance(node.op, ast.Mult) else left << right
    return None


def _names_in(node: ast.AST) -> list[str]:
    texts = []
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            texts.append(part.id)
        elif isinstance(part, ast.Attribute):
            texts.append(part.attr)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            texts.append(part.value)
    return texts


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def test_no_default_of_rocketmq_stands_in_a_second_place() -> None:
    places = [
        f"{path.relative_to(_ROOT)}:{line}: {name}"
        for package in _PACKAGES
        for path in sorted((_ROOT / package).rglob("*.py"))
        if path.name != "broker_defaults.py"
        for line, name in doubled(path.read_text(encoding="utf-8"))
    ]
    assert places == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("class S:\n    timeout_ms: int = 6_000", "transactionTimeOut"),
        ("settings.get('transactionOpBatchInterval', 3_000)", "transactionOpBatchInterval"),
        ("check_max, timeout = 15, 1", "transactionCheckMax"),
        ("interval = 30_000 if since else 60_000", "transactionCheckInterval"),
        ("def f(*, op_pull_size=32): ...", "OP_MSG_PULL_NUMS"),
        ("reserved = {'file_reserved_ms': 72 * _HOUR_MS}", "fileReservedTime"),
        ("_OP_SIZE = 1 << 12", "transactionOpMsgMaxSize"),
    ],
)
def test_a_second_place_is_found(source: str, name: str) -> None:
    assert [found for _, found in doubled(source)] == [name]
