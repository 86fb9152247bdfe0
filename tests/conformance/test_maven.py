"""What Maven prints is said by the lines that it marks as errors, or by that there are none."""

from __future__ import annotations

import subprocess

from conformance.maven import errors_of


def test_only_the_lines_of_errors_are_given() -> None:
    done = subprocess.CompletedProcess([], 1, "[INFO] begun\n[ERROR] no such artifact\n", "[WARN] old\n[ERROR] gone\n")
    assert errors_of(done) == ["[ERROR] no such artifact", "[ERROR] gone"]
    assert errors_of(subprocess.CompletedProcess([], 1, "[INFO] begun\n", "")) == ["it gives no reason"]
