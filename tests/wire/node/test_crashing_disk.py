"""A disk that counts its writes stops at the one that it was told, and leaves all before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reference.format.errors import DiskHasStoppedError
from wire.node.crashing_disk import CrashingDisk
from wire.node.ordered_faults import OrderedFault

if TYPE_CHECKING:
    from pathlib import Path


def test_it_stops_before_the_write_that_was_named_and_at_all_behind_it(tmp_path: Path) -> None:
    disk = CrashingDisk(tmp_path)
    file = disk.map_file("log/0", 64)
    disk.crash_at(3, OrderedFault(1, "crash at_write=3"))
    file.write(0, b"one")
    disk.write("config/two", b"2")
    for lost in (
        lambda: file.write(8, b"three"),
        lambda: disk.write("config/three", b"3"),
        lambda: disk.rename("config/two", "config/three"),
        lambda: disk.delete("config/two"),
        lambda: disk.map_file("log/64", 64),
    ):
        with pytest.raises(DiskHasStoppedError, match="before write 4"):
            lost()
    assert disk.read("config/two") == b"2"
    assert disk.names("config") == ["two"]
    assert bytes(file.buffer[:16]) == b"one".ljust(16, b"\0")
    disk.resume()
    disk.write("config/three", b"3")
    assert (disk.writes, disk.names("config")) == (4, ["three", "two"])
    file.close()
