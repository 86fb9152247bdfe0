"""A JVM with RocketMQ's classes of a release: orders go to it ahead of their answers, which are compared as they come.

The reference broker has predicted each answer when its order is given, so that nobody waits for the JVM.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self

from conformance.errors import JavaError
from conformance.java import watch
from conformance.java.digest import PARTS
from conformance.java.harness import compiled_harness
from conformance.java.watch import Watch
from conformance.releases.jars import ASM, fetched_jars, release_called
from conformance.releases.jvm import java_command
from files.reading import read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from conformance.java.given_jar import GivenJar

REWRITTEN: Final = {
    "stop: next half": 1,
    "stop: message stored": 1,
    "stop: waiting": 1,
    "stop: store closes": 1,
    "MAX_PROCESS_TIME_LIMIT": 1,
    "OP_MSG_PULL_NUMS": 1,
    "hours of fileReservedTime": 1,
    "classes left alone": 0,
}
"""How often each of these must be rewritten in the classes of any release."""

_MEMORY_DISK: Final = Path("/dev/shm")  # noqa: S108 (a folder of our own is made in it)
_MOST_UNREAD: Final = 128
"""So many answers fit into the pipe together with as many orders: nobody waits for who waits for him."""


@dataclass(frozen=True, slots=True)
class RealDifference:
    """The first part in which an answer of the real classes is not the predicted one."""

    order: str
    part: str
    predicted: str
    given: str
    where: Any
    """What the order was given with."""
    whose: str
    """What the classes are called."""


@dataclass(frozen=True, slots=True)
class _Asked:
    order: str
    predicted: tuple[str, ...]
    where: Any


def _line_of(order: str, fields: Mapping[str, object]) -> str:
    return "\t".join((order, *(f"{field}={value}" for field, value in fields.items())))


class RealClasses:
    """The classes of a release in a JVM of their own, which ends with the `with` block.

    Parameters
    ----------
    given
        Classes that stand before those of the release, whose behaviour is asked for instead.

    Raises
    ------
    MavenError
        The jars are not there, and Maven can't bring them.
    JavaError
        There is no JDK, or the harness does not fit the jars.
    """

    def __init__(self, release: str, given: GivenJar | None = None) -> None:
        self.release = release
        self.given = given
        self.name = f"RocketMQ {release}" if given is None else given.name
        """What the classes are called."""
        published = sorted((*fetched_jars(release_called(release)).glob("*.jar"), *fetched_jars(ASM).glob("*.jar")))
        jars = [*(() if given is None else given.class_path), *published]
        harness = compiled_harness(jars)
        self._folder = TemporaryDirectory(
            prefix="halfcheck-real-", dir=_MEMORY_DISK if _MEMORY_DISK.is_dir() else None, ignore_cleanup_errors=True
        )
        folder = Path(self._folder.name)
        logs = folder / "logback.xml"
        logs.write_text('<configuration><root level="OFF"/></configuration>', encoding="utf-8")
        self._errors = (folder / "stderr.txt").open("wb")
        self._jvm = subprocess.Popen(
            [
                *java_command(folder, "512m"),
                f"-javaagent:{harness}",
                f"-Drmq.logback.configurationFile={logs}",
                f"-Dlogback.configurationFile={logs}",
                "-cp",
                ":".join(map(str, (harness, *jars))),
                "halfcheck.harness.Main",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._watch = Watch(self._jvm, watch.MOST_SECONDS)
        self._asked: deque[_Asked] = deque()
        self.compared: Counter[str] = Counter()
        """How many answers to each order were compared."""

    @property
    def borrowed(self) -> str:
        """Which jars are another release's, where not all were published; '' where all were."""
        of = release_called(self.release)
        own = ", ".join(name.removeprefix("rocketmq-") for name in of.own)
        return f"of {of.version} the jars {own} were published; the others are those of {of.base}" if of.own else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def kill(self) -> None:
        """Kill the JVM."""
        self._jvm.kill()
        self._jvm.wait()

    def stop(self) -> None:
        """Let the JVM stand still, as one that loops for ever; every thread of it stands when this returns."""
        self._jvm.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._jvm.pid, os.WSTOPPED)

    def close(self) -> None:
        """End the JVM, and remove its stores."""
        self._watch.end()
        with suppress(BrokenPipeError):
            self._pipe.close()
        try:
            self._jvm.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._jvm.kill()
            self._jvm.wait()
        if self._jvm.stdout is not None:
            self._jvm.stdout.close()
        self._errors.close()
        self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """Where the stores are."""
        return Path(self._folder.name)

    @property
    def _pipe(self) -> Any:
        return self._jvm.stdin

    def order(
        self, name: str, predicted: tuple[str, ...], where: Any = None, **fields: object
    ) -> RealDifference | None:
        """Give an order with its fields; gives the first difference in the answers that have come so far."""
        self._write(_line_of(name, fields))
        self._asked.append(_Asked(name, predicted, where))
        return self._collect(_MOST_UNREAD // 2) if len(self._asked) == _MOST_UNREAD else None

    def ask(self, name: str, **fields: object) -> tuple[str, ...]:
        """Give an order and wait for its answer, which nobody has predicted: all of `PARTS`, or what was thrown."""
        self.collect()
        self._write(_line_of(name, fields))
        self._flush()
        return tuple(self._line().split("|"))

    def ask_or_raise(self, name: str, **fields: object) -> tuple[str, ...]:
        """The same; raises `JavaError` where something was thrown."""
        answer = self.ask(name, **fields)
        if answer[0].startswith("thrown: "):
            message = f"{self.name}: {name}: {'|'.join(answer).removeprefix('thrown: ')}"
            raise JavaError(message)
        return answer

    def collect(self) -> RealDifference | None:
        """Read all answers; gives the first difference."""
        return self._collect(len(self._asked))

    def _collect(self, answers: int) -> RealDifference | None:
        self._flush()
        found = [self._read() for _ in range(answers)]
        return next(filter(None, found), None)

    def report(self) -> dict[str, int]:
        """What was rewritten in the classes how often, what they wanted to start, and how many errors they logged.

        What they want to start is not started; RocketMQ logs whatever is thrown in a check round, and goes on.
        """
        self.collect()
        self._write("report")
        self._flush()
        return {name: int(count) for name, _, count in (fact.partition("=") for fact in self._line().split("|"))}

    def require_rewritten(self) -> None:
        """Raise `JavaError` unless the classes are built as the agent expects it; a broker must have been opened."""
        found = self.report()
        wrong = {name: found.get(name, 0) for name, count in REWRITTEN.items() if found.get(name, 0) != count}
        if wrong:
            said = ", ".join(f"{name} {count} times, not {REWRITTEN[name]}" for name, count in wrong.items())
            message = f"{self.name}: these classes are built otherwise than those the agent knows: {said}"
            raise JavaError(message)

    def _write(self, line: str) -> None:
        try:
            self._pipe.write(line.encode() + b"\n")
        except BrokenPipeError as error:
            raise self._gone() from error

    def _flush(self) -> None:
        try:
            self._pipe.flush()
        except BrokenPipeError as error:
            raise self._gone() from error

    def _read(self) -> RealDifference | None:
        asked = self._asked.popleft()
        given = self._line()
        self.compared[asked.order] += 1
        parts = tuple(given.split("|"))
        if parts == asked.predicted:
            return None
        if len(parts) != len(asked.predicted):
            return RealDifference(asked.order, PARTS[0], asked.predicted[0], given, asked.where, self.name)
        part = next(i for i, value in enumerate(parts) if value != asked.predicted[i])
        return RealDifference(asked.order, PARTS[part], asked.predicted[part], parts[part], asked.where, self.name)

    def _line(self) -> str:
        with self._watch.waiting():
            line = b"" if self._jvm.stdout is None else self._jvm.stdout.readline()
        if not line:
            raise self._gone()
        return line.decode().rstrip("\n")

    def _gone(self) -> JavaError:
        self._jvm.wait()
        if self._watch.has_killed:
            message = f"the JVM with {self.name} gave no answer for {self._watch.most_seconds:g} s, and was killed"
            return JavaError(message)
        self._errors.flush()
        told = read_bytes(Path(self._errors.name)).decode(errors="replace").splitlines()
        last = next((line for line in reversed(told) if line.strip()), "it said nothing")
        return JavaError(f"the JVM with {self.name} has ended with {self._jvm.returncode}: {last}")
