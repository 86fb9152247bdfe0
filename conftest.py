"""What pytest does not look into for examples, what is not traced, which tests share a worker, and which come first."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import tomllib
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from numba.core.event import Listener, register
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sized

    from xdist.remote import Producer

# Text that is appended to a generated module, and the script of a client that has an environment of its own.
collect_ignore = ["model_check/explicit/kernel_texts", "real_brokers/clients/grpc/python_client.py"]

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
    "endless",
    "small_check_service",
    "two_phase_commit",
)

hypothesis.settings.register_profile("untimed", deadline=None)  # a busy machine fails nothing
hypothesis.settings.load_profile("untimed")


ONE_JAVA = "Spark"
NEEDS_JAVA = (
    *(
        f"tests/halfcheck/test_{name}.py"
        for name in ("analyze_itf", "commands_elsewhere", "interrupted", "simulate_and_analyze", "what_if_sweep")
    ),
    "tests/halfcheck/verify/test_verify.py",
    *(f"tests/spark_trace_analysis/{folder}test_" for folder in ("", "cluster/", "judge/", "statistics/", "traces/")),
)
"""These tests share a Java, warm for all but the first. In this order: a command stops its session at its end, and the
session that the tests of spark_trace_analysis share is begun behind the last command."""

ONE_PAGE = "tests/html_report/"
SHOWS_THE_PAGE = (ONE_PAGE, "tests/quality/test_no_page_contradicts_the_table.py")
"""The page of these tests is filled once: all schedules of the table of verdicts are replayed for it."""

FOLDERS = 3
"""So many parts of a path name the folder in which tests share an instance; all tests of `tiny` are a fifth of all."""

SECONDS = Path(__file__).parent / "benchmarks" / "tests" / "seconds.toml"
"""What `make bench-tests` measured, by group of tests that one worker takes."""

SECONDS_A_TEST = 0.1
"""Of a group that was not measured yet."""


class OneWorkerForAnInstance(LoadScopeScheduling):  # type: ignore[misc]
    """Tests of a folder that need the same compiled instance run on one worker, where each world is searched once.

    Others go by their file. The instance is known by the parameters in the test's name; its code is compiled by the
    first worker that wants it, and found on disk by the others. (The markers of `--dist loadgroup` do not reach the
    scheduler of pytest-xdist 3.8 under pytest 9.2.)

    The longest group goes first, so that no worker waits for the other one's in the end.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        self.workqueue.move_to_end(longest(self.workqueue), last=False)
        super()._assign_work_unit(node)


def longest(groups: Mapping[str, Sized]) -> str:
    """The group whose tests took most when they were measured."""
    return max(groups, key=lambda group: MEASURED.get(group, SECONDS_A_TEST * len(groups[group])))


def group_of(nodeid: str) -> str:
    """The tests that one worker takes together: of a Spark session, the page, an instance in a folder, or a file."""
    file, _, parameters = nodeid.partition("[")
    if file.startswith(NEEDS_JAVA):
        return ONE_JAVA
    if file.startswith(SHOWS_THE_PAGE):
        return ONE_PAGE
    named = set(re.split(r"[-\]]", parameters))
    path = file.split("::")[0]
    instance = next((name for name in COMPILED if name in named), None)
    return path if instance is None else f"{instance} {'/'.join(path.split('/')[:FOLDERS])}"


MEASURED: dict[str, float] = tomllib.loads(SECONDS.read_text())


COLLECTED_AFTER = (100_000, 50, 100)
"""Allocations, and collections of the younger generations, until Python looks for cycles; its own are 700, 10 and 10.

To write the code of an instance takes a quarter less, to compile it with Numba a tenth.
"""


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
    """Numba tells when it compiles.

    The code of the many small searches is compiled quickly; `make sweeps` and the main job have it compiled well.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has it ignored in what runs in its background
    gc.set_threshold(*COLLECTED_AFTER)
    os.environ.setdefault("HALFCHECK_COMPILE", "quick")
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    listen: Callable[[str, Listener], None] = register
    listen("numba:compile", NobodyLooks())


def pytest_collection_finish() -> None:
    """What was imported stays, and is not looked through again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _a_pipe_without_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test prints is as wide as it asks for: a worker of xdist has the width of the terminal, or 80 columns."""
    monkeypatch.delenv("COLUMNS", raising=False)


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
