"""What Ctrl-C says where work is kept: the same command goes on with it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def resumable(count_kept: Callable[[], int], what: str) -> Iterator[None]:
    """Let Ctrl-C in the block tell what is kept; it says nothing more than usual where there is nothing.

    Parameters
    ----------
    count_kept
        How many pieces of work the same command would find; asked after the block.
    what
        What one piece is, in the singular.

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
        kept = count_kept()
        if not kept:
            raise
        pieces = f"1 {what} is" if kept == 1 else f"{kept} {what}s are"
        message = f"interrupted; {pieces} finished and kept, the same command goes on from there"
        raise KeyboardInterrupt(message) from None
