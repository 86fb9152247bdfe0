"""What the tests of RocketMQ's own classes have in common: they want Maven, and share a worker with its JVM."""

from __future__ import annotations

import shutil

import pytest

RELEASE = "4.9.7"

MARKS = [
    pytest.mark.xdist_group(name="real classes"),
    pytest.mark.skipif(shutil.which("mvn") is None, reason="no Maven, which would bring RocketMQ's classes"),
]
