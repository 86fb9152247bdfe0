"""The live line of a search on stderr: states, states a second, depth, queue."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.text import Text

    from model_check.explicit.search import Progress

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
        line += f", {_duration(progress.seconds_left)} left"
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


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def search_progress(title: str, *, wanted: bool = True) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that shows how far a search is; `None` when nobody watches (no terminal, or not wanted).

    Parameters
    ----------
    title
        What is searched.
    wanted
        False with `--json`.
    """
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
        yield lambda told: status.update(fitting(str(told), console.width))
