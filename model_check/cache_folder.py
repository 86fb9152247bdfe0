"""Where compiled code is kept from run to run, also where no home can be written to: a container, a system's user."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs

VARIABLE = "HALFCHECK_CACHE"


def cache_folder() -> Path:
    """HALFCHECK_CACHE, or the user's cache folder; a temporary one, with a warning, if it can't be written to.

    The processes that this one starts find the temporary folder in HALFCHECK_CACHE, and warn no more. Raises
    `FileNotFoundError` if not even a temporary file can be made.
    """
    wanted = wanted_folder()
    if _is_usable(wanted):
        return wanted
    folder = _temporary()
    os.environ[VARIABLE] = str(folder)
    print(
        f"halfcheck: warning: {wanted} can't be written to; compiled code goes to {folder} ({VARIABLE}=DIR chooses)",
        file=sys.stderr,
    )
    return folder


def wanted_folder() -> Path:
    """HALFCHECK_CACHE, or the user's cache folder, be it writable or not."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else platformdirs.user_cache_path("halfcheck") / "kernels"


def _is_usable(wanted: Path) -> bool:
    """Whether it can be written to, and is not below this folder for want of a home (``~/.cache``)."""
    return can_be_written(wanted) and (bool(os.environ.get(VARIABLE)) or wanted.is_absolute())


def let_numba_keep_its_code(package: Path) -> None:
    """Choose a folder for what Numba compiles of a package, if neither its own folder nor the user's takes it.

    Numba refuses to compile a function that it was told to keep and can't (`cache=True`). It asks for
    NUMBA_CACHE_DIR when it is imported. Nothing is said of it: most commands that import the package compile nothing.
    """
    users = platformdirs.user_cache_path("numba")
    if "NUMBA_CACHE_DIR" in os.environ or can_be_written(package) or (users.is_absolute() and can_be_written(users)):
        return
    wanted = wanted_folder()
    folder = wanted if _is_usable(wanted) else _temporary()
    os.environ["NUMBA_CACHE_DIR"] = str(folder / "numba")


def can_be_written(folder: Path) -> bool:
    """Whether files can be made in a folder, which need not be there yet.

    Examples
    --------
    >>> can_be_written(Path("/dev/null/home/.cache"))
    False
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _temporary() -> Path:
    """The user's own folder for temporary files, the same in each run; another one if somebody else has taken it."""
    folder = Path(tempfile.gettempdir()) / f"halfcheck-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return folder if is_ours else Path(tempfile.mkdtemp(prefix="halfcheck-"))
