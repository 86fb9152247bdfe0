"""The two crates of rocketmq-rust that make a broker, built once by cargo."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from files.reading import read_text
from real_brokers.errors import RealBrokerError
from wire.probe.operator import in_own_session

if TYPE_CHECKING:
    from collections.abc import Sequence

BUILT: Final = Path(__file__).parents[2] / "build" / "rust-broker"
"""Programs in ``bin``, cargo's own work in ``target``, which a later build goes on from."""

RELEASE: Final = "1.0.0"
NEEDED_RUST: Final = "1.95"


@dataclass(frozen=True, slots=True)
class Crate:
    """A package of the Rust registry, and the program in it."""

    name: str
    program: str

    @property
    def coordinates(self) -> str:
        """As ``cargo install`` takes it."""
        return f"{self.name}@{RELEASE}"


NAME_SERVER: Final = Crate("rocketmq-namesrv", "rocketmq-namesrv-rust")
BROKER: Final = Crate("rocketmq-broker", "rocketmq-broker-rust")
CRATES: Final = NAME_SERVER, BROKER
_LEAN: Final = {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
"""Without debug information, which would take several times the room."""


class CargoError(RealBrokerError):
    """The crates can't be built: cargo is missing, too old, or fails."""


def install_command(cargo: str, crate: Crate, root: Path) -> list[str]:
    """The command line that builds a crate into a folder, with the versions that its own lock file names.

    Examples
    --------
    >>> " ".join(install_command("cargo", NAME_SERVER, Path("build")))
    'cargo install --debug --locked --root build --target-dir build/target rocketmq-namesrv@1.0.0'
    """
    folders = ["--root", str(root), "--target-dir", str(root / "target")]
    return [cargo, "install", "--debug", "--locked", *folders, crate.coordinates]


def built(root: Path = BUILT, crates: Sequence[Crate] = CRATES) -> Path:
    """The folder with the programs, which are built now where they are missing; cargo shows how far it is on stderr.

    Raises
    ------
    CargoError
        There is no cargo, or it fails; the message says what to do.
    """
    waiting = [crate for crate in crates if not _is_built(crate, root)]
    if not waiting:
        return root / "bin"
    cargo = shutil.which("cargo")
    if cargo is None:
        message = (
            f"no cargo at any place of PATH: {waiting[0].coordinates} is built by Rust {NEEDED_RUST} or newer; install "
            "Rust with its cargo, put it on PATH, and try again"
        )
        raise CargoError(message)
    for crate in waiting:
        print(f"building {crate.coordinates} into {root} (once; a quarter of an hour on two cores)", file=sys.stderr)
        with in_own_session(install_command(cargo, crate, root), environment={**os.environ, **_LEAN}) as process:
            code = process.wait()
        if code:
            message = (
                f"cargo ended with {code} for {crate.coordinates} (its last lines stand above); it wants Rust "
                f"{NEEDED_RUST} or newer, a C compiler, and the Rust registry; a further try goes on where it was"
            )
            raise CargoError(message)
        _stamp(crate, root).write_text(f"{RELEASE}\n", encoding="utf-8")
    return root / "bin"


def _stamp(crate: Crate, root: Path) -> Path:
    """The file that names the release of a program: one of another release is built anew."""
    return root / "bin" / f"{crate.program}.release"


def _is_built(crate: Crate, root: Path) -> bool:
    stamp = _stamp(crate, root)
    is_there = (root / "bin" / crate.program).is_file() and stamp.is_file()
    return is_there and read_text(stamp).strip() == RELEASE
