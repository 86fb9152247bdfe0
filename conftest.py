"""What pytest does not look into for examples, what is not traced, and which tests run on the same worker."""

from __future__ import annotations

import re
import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

import pytest
from numba.core.event import Listener, register
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from xdist.remote import Producer

# Text that is appended to a generated module, and no module of its own.
collect_ignore = [f"model_check/explicit/{name}.py" for name in ("calls", "hashing", "kernel", "walk_kernel")]

COMPILED = (
    "tiny",
    "patient",
    "odd",
    "skewed",
    "deep",
    "small",
    "medium",
    "large",
    "shared",
    "trio",
    "small_check_service",
    "two_phase_commit",
)


ONE_SPARK = "tests/spark_trace_analysis/test_"
"""These tests share a Spark session, which a command that is tested in between on the same worker would stop."""


class OneWorkerForAnInstance(LoadScopeScheduling):  # type: ignore[misc]
    """Tests that need the same compiled instance run on one worker, where it is compiled once; others go by their file.

    The instance is known by the parameters in the test's name. (The markers of `--dist loadgroup` do not reach the
    scheduler of pytest-xdist 3.8 under pytest 9.2.)
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, parameters = nodeid.partition("[")
        if file.startswith(ONE_SPARK):
            return ONE_SPARK
        named = set(re.split(r"[-\]]", parameters))
        return next((name for name in COMPILED if name in named), file.split("::")[0])


class NobodyLooks(Listener):
    """While Numba compiles, no line of this project is taken; to trace its compiler takes as long again."""

    def __init__(self) -> None:
        self.tracers: dict[int, list[Any]] = {}  # a thread has its own

    def on_start(self, _event: object) -> None:
        """Compiling begins, perhaps inside of another."""
        self.tracers.setdefault(get_ident(), []).append(sys.gettrace())
        sys.settrace(None)

    def on_end(self, _event: object) -> None:
        """Compiling ends."""
        sys.settrace(self.tracers[get_ident()].pop())


def pytest_configure() -> None:
    """Numba tells when it compiles."""
    listen: Callable[[str, Listener], None] = register
    listen("numba:compile", NobodyLooks())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Call a test that is marked `untraced` at full speed: smaller tests show that the same lines were taken."""
    if item.get_closest_marker("untraced") is None:
        return (yield)
    from tests.model_check.checked import untraced

    with untraced():
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Any:
    """The order in which tests are handed to the workers."""
    return OneWorkerForAnInstance(config, log)
