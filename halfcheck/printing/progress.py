"""The progress of long jobs on stderr: a bar, a live line; how long they took; what Ctrl-C leaves for the next run."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from files.durations import about

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.text import Text

    from model_check.explicit.search import Progress


@contextmanager
def progress_bar(what: str, *columns: str, wanted: bool = True, **task: Any) -> Iterator[Callable[..., None] | None]:
    """Give a function that takes what `rich.progress.Progress.update` takes; `None` when nobody watches.

    Parameters
    ----------
    columns
        Stand behind the bar: names of Rich's columns, or texts with the fields of the task.
    task
        What is known at the beginning: `total`, and fields of the texts.
    """
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    behind = [progress.TextColumn(name) if "{" in name else getattr(progress, name)() for name in columns]
    before = progress.TextColumn("{task.description}"), progress.BarColumn()
    with progress.Progress(*before, *behind, console=Console(stderr=True), transient=True) as bar:
        number = bar.add_task(what, **task)
        yield lambda **now: bar.update(number, **now)


@contextmanager
def counting_bar(what: str, *columns: str) -> Iterator[Callable[[int, int], None] | None]:
    """The same for the numbers of pieces that are done, and of all."""
    with progress_bar(what, *columns, total=None) as update:
        yield update and (lambda done, total: update(completed=done, total=total))


_MANY = 1_000_000
_BESIDE_THE_WHEEL = 3


def words(progress: Progress) -> str:
    """How far a search is, as one line.

    Examples
    --------
    >>> from model_check.explicit.search import Progress
    >>> words(Progress(4_200_000, 9_000_000, 17, 100_000, 1.0, 7_000_000, 0.7))
    '4,200,000 states · 4.20 M states/s · depth 17 · queue 100,000 · about 7.0 M in all, 1 s left'
    """
    speed = progress.distinct / max(progress.seconds, 1e-9)
    line = (
        f"{progress.distinct:,} states · {speed / 1e6:.2f} M states/s "
        f"· depth {progress.depth} · queue {progress.queue:,}"
    )
    if progress.expected is not None:
        in_all = f"{progress.expected / 1e6:.1f} M" if progress.expected >= _MANY else f"{progress.expected:,.0f}"
        line += f" · about {in_all} in all"
    if progress.seconds_left is not None:
        line += f", {about(progress.seconds_left)} left"
    return line


def fitting(line: str, width: int) -> Text:
    """A line that stays one beside the turning wheel, in whatever width there is.

    Examples
    --------
    >>> fitting("5.3.3 odd: 17,482 states", 20).plain
    '5.3.3 odd: 17,48…'
    """
    from rich.text import Text

    text = Text(line)
    text.truncate(max(width - _BESIDE_THE_WHEEL, 1), overflow="ellipsis")
    return text


@contextmanager
def search_progress(title: str, *, wanted: bool = True) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that shows how far a search is; `None` when nobody watches (no terminal, or not wanted)."""
    with portfolio_progress(title, wanted=wanted) as report:
        yield None if report is None else lambda progress: report("", progress)


@contextmanager
def portfolio_progress(title: str, *, wanted: bool = True) -> Iterator[Callable[[str, Progress], None] | None]:
    """The same for several instances one after the other: the function is given the name of the one under way, too."""
    with live_line(f"{title}: making the search ready", wanted=wanted) as tell:
        yield None if tell is None else lambda name, progress: tell(f"{f'{title} {name}'.strip()}: {words(progress)}")


@contextmanager
def live_line(
    first: str = "making the searches ready", *, wanted: bool = True
) -> Iterator[Callable[[object], None] | None]:
    """Give a function that shows what its argument says of itself in one line on stderr; `None` when nobody watches."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(fitting(first, console.width)) as status:
        yield lambda line: status.update(fitting(str(line), console.width))


def counting(tell: Callable[[object], None] | None, what: str) -> Callable[[int, int], None] | None:
    """A function that shows in a line how many of something are done, of how many; None where nobody watches."""
    return tell and (lambda done, of: tell(f"{what}: {done:,} of {of:,}"))


def telling_bytes(tell: Callable[[object], None], what: str) -> Callable[[int, int], None]:
    """A function that shows in a line how many bytes are done, of how many, and about how long the rest takes."""
    began = perf_counter()

    def report(done: int, total: int) -> None:
        left = (perf_counter() - began) * (total - done) / max(done, 1)
        tell(f"{what}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB, {about(left)} left")

    return report


@contextmanager
def timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    """Note how long the block takes, if it comes to its end."""
    began = perf_counter()
    yield
    seconds[phase] = perf_counter() - began


@contextmanager
def resumable(count_finished: Callable[[], int], what: str) -> Iterator[None]:
    """Let Ctrl-C in the block tell how many pieces of work the same command would find, if there are any.

    Raises
    ------
    KeyboardInterrupt
        The block's own, with a message.

    Examples
    --------
    >>> try:
    ...     with resumable(lambda: 3, "file"):
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt as interrupt:
    ...     print(interrupt)
    interrupted; 3 files are finished and kept, the same command goes on from there
    """
    try:
        yield
    except KeyboardInterrupt:
        finished = count_finished()
        if not finished:
            raise
        pieces = f"1 {what} is" if finished == 1 else f"{finished} {what}s are"
        message = f"interrupted; {pieces} finished and kept, the same command goes on from there"
        raise KeyboardInterrupt(message) from None
