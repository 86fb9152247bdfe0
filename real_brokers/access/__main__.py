"""``make client-access``: our client before real brokers with access control, with TLS, and without either."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from halfcheck.errors import ExitCode
from real_brokers.access.trials import trials
from real_brokers.command_line import OneLineParser, exit_code_after

if TYPE_CHECKING:
    from collections.abc import Sequence

_USUAL: Final = ("4.9.7", "5.3.3")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each claim; the exit code is 0 if all hold, 12 if one does not, 150 if something does not start."""
    parser = OneLineParser(prog="python -m real_brokers.access", description=__doc__)
    releases = parser.releases(arguments, _USUAL)
    return exit_code_after(lambda: _ask(releases))


def _ask(versions: Sequence[str]) -> int:
    holds = True
    for version in versions:
        for claim, is_so in trials(version):
            print(f"{version}: {'' if is_so else 'NOT SO: '}{claim}", flush=True)
            holds &= is_so
    return ExitCode.of_verdict(is_broken=not holds, is_complete=True)


if __name__ == "__main__":
    sys.exit(main())
