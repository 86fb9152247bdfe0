"""The extras of this package: which libraries each brings, as installed metadata says, and which are missing here."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, requires
from typing import Final

from halfcheck.errors import CommandLineError, ExitCode

VERDICT: Final = "verdict"
"""What judging a run takes."""

_PACKAGE: Final = "halfcheck"
_REQUIREMENT: Final = re.compile(r"([\w.-]+)[^;]*; extra == ['\"]([\w-]+)['\"]")
_DISTRIBUTIONS: Final = {"google": "protobuf", "z3": "z3-solver", "vl_convert": "vl-convert-python"}
"""By the name under which a library is imported, where it is another."""


class MissingLibrariesError(CommandLineError):
    """Libraries of an extra are not installed."""

    exit_code = ExitCode.BAD_CONTENT

    def __init__(self, libraries: list[str], extra: str) -> None:
        are, them = ("is", "it") if len(libraries) == 1 else ("are", "them")
        brings = f"pip install '{_PACKAGE}[{extra}]' brings {them}, '{_PACKAGE}[all]' what any command takes"
        super().__init__(f"{', '.join(libraries)} {are} not installed; {brings}")


def missing(extra: str) -> list[str]:
    """The libraries of an extra that are not installed."""
    return [library for library, brought_by in _libraries().items() if brought_by == extra and not _is_there(library)]


def require(extra: str) -> None:
    """Raise `MissingLibrariesError` if a library of an extra is not installed."""
    if libraries := missing(extra):
        raise MissingLibrariesError(libraries, extra)


def explained(error: ModuleNotFoundError) -> MissingLibrariesError | None:
    """What a failed import means: the library that is missing, and the extra that brings it; None if none does."""
    module = (error.name or "").partition(".")[0]
    library = _DISTRIBUTIONS.get(module, module.replace("_", "-"))
    extra = _libraries().get(library)
    return None if extra is None else MissingLibrariesError([library], extra)


@cache
def _libraries() -> dict[str, str]:
    """By library the extra that names it."""
    try:
        matches = [_REQUIREMENT.match(line) for line in requires(_PACKAGE) or ()]
    except PackageNotFoundError:  # sources that nobody has installed
        return {}
    return {match[1]: match[2] for match in matches if match is not None and match[1] != _PACKAGE}


def _is_there(library: str) -> bool:
    try:
        distribution(library)
    except PackageNotFoundError:
        return False
    return True
