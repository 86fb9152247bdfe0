"""Parameters of which `make test` takes some, and `make sweeps` the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def sampled(values: Iterable[Any], every: int) -> list[Any]:
    """Each nth from the first on as it is, the others marked as sweeps; a tuple is several parameters.

    Examples
    --------
    >>> [value if isinstance(value, int) else value.values for value in sampled(range(4), 3)]
    [0, (1,), (2,), 3]
    """
    return [value if place % every == 0 else _swept(value) for place, value in enumerate(values)]


def _swept(value: Any) -> Any:
    if isinstance(value, type(pytest.param())):
        return pytest.param(*value.values, id=value.id, marks=(*value.marks, pytest.mark.sweep))
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.sweep)
