"""``make example``: carries out the commands of the example project's README, from nothing, in this checkout.

What an earlier run has built is removed first, but for what Maven and Go have fetched. The environment is that of the
caller without what would lead Python to this checkout; that halfcheck comes from the wheel is looked at in the end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.example.readme_commands import PageIsWrongError, carry_out, commands_of

ROOT: Final = Path(__file__).parents[2]
EXAMPLE: Final = ROOT / "docs" / "example" / "order_service"
ENVIRONMENT: Final = ROOT / "build" / "example"
"""Where the README makes its environment."""

BUILT: Final = (ENVIRONMENT, EXAMPLE / "build", EXAMPLE / "java" / "target", EXAMPLE / "go" / "go.sum")

_TELLS_PYTHON: Final = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTEST_ADDOPTS", "PYTEST_PLUGINS")


def main() -> int:
    """0 where the README is right, else 12 with the first thing that is wrong in one line."""
    for path in BUILT:
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in _TELLS_PYTHON}
    try:
        for commands in commands_of((EXAMPLE / "README.md").read_text(encoding="utf-8")):
            print(f"\n$ {commands.script.rstrip().replace(chr(10), chr(10) + '$ ')}", flush=True)
            carry_out(commands, ROOT, environment)
        require_the_wheel(ENVIRONMENT / "bin" / "python", environment)
    except PageIsWrongError as error:
        print(f"docs/example/order_service/README.md: {error}", file=sys.stderr)
        return 12
    print("\ndocs/example/order_service/README.md: every command does what the page says")
    return 0


def require_the_wheel(python: Path, environment: dict[str, str]) -> None:
    """Let an interpreter tell where it has halfcheck from.

    Raises
    ------
    PageIsWrongError
        From elsewhere than its own packages.
    """
    program = "import halfcheck, sysconfig; print(halfcheck.__file__); print(sysconfig.get_path('purelib'))"
    done = subprocess.run(
        [python, "-c", program], cwd=EXAMPLE, env=environment, check=True, capture_output=True, text=True
    )
    file, packages = done.stdout.splitlines()
    if not file.startswith(packages):
        message = f"halfcheck was imported from {file}, expected it in {packages}, where the wheel is installed"
        raise PageIsWrongError(message)


if __name__ == "__main__":
    sys.exit(main())
