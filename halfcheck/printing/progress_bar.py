"""A bar on stderr for whoever watches a job whose pieces are counted."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(what: str, *columns: str, wanted: bool = True, **task: Any) -> Iterator[Callable[..., None] | None]:
    """Give a function that takes what `rich.progress.Progress.update` takes; `None` when nobody watches.

    Parameters
    ----------
    what
        Stands before the bar.
    columns
        Stand behind it: names of Rich's columns, or texts with the fields of the task.
    wanted
        False with `--json`.
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
