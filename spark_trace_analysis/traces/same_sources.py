"""Whether an executor imports the sources that the driver does: by others, the same traces are other ones.

The driver brings its own to a cluster, but a ``PYTHONPATH`` that somebody has set there goes before them.
"""

import socket
from functools import cache
from typing import Final

from spark_trace_analysis.traces.manifest import source_fingerprint

OF_JUDGING: Final = ("reference", "spec", "spark_trace_analysis")
"""The packages by which traces are judged and stores audited."""


@cache
def sources_here(packages: tuple[str, ...] = OF_JUDGING) -> str:
    """The fingerprint of some packages as this process imports them."""
    return source_fingerprint(None, packages)


def other_version(of_driver: str, packages: tuple[str, ...] = OF_JUDGING) -> str | None:
    """Say of an executor that it imports other sources than the driver, whose fingerprint is given; None if not so."""
    here = sources_here(packages)
    if here == of_driver:
        return None
    return (
        f"the executor on {socket.gethostname()} has another version of halfcheck, sources {here}, the driver "
        f"{of_driver}: leave PYTHONPATH to halfcheck, which brings its own"
    )
