"""Spark's one need outside Python: a Java runtime that is new enough.

It is looked for before Spark starts, because Spark's own words for a missing or old one fill a screen.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from spark_trace_analysis.errors import BadOptionError

OLDEST_JAVA = 17
_INSTALL = "install a JDK 17 or newer (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME"


def require_java() -> Path:
    """Find the ``java`` that Spark will start: that of ``JAVA_HOME``, or else the first on ``PATH``.

    Returns
    -------
    Path
        The executable.

    Raises
    ------
    BadOptionError
        None is there, it does not run, or it is older than 17.
    """
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None or not os.access(found, os.X_OK):
        where = f"JAVA_HOME is {home}, but there is no bin/java in it" if home else "no java is on PATH"
        message = f"Spark needs Java {OLDEST_JAVA} or newer, and {where}: {_INSTALL}"
        raise BadOptionError(message)
    major = _major_version(found)
    if major is None:
        message = f"Spark needs Java {OLDEST_JAVA} or newer, and {found} does not say its version: {_INSTALL}"
        raise BadOptionError(message)
    if major < OLDEST_JAVA:
        message = f"Spark needs Java {OLDEST_JAVA} or newer, and {found} is Java {major}: {_INSTALL}"
        raise BadOptionError(message)
    return Path(found)


def _major_version(java: str) -> int | None:
    """The feature release of an executable: 8 for ``1.8.0_392``, 17 for ``17.0.15``; None if it doesn't tell."""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(match.group(1)) if match else None
