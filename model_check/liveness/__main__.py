"""Search the worlds of `docs/generated/liveness.md`, and write the page anew: `make liveness`."""

from __future__ import annotations

import sys
from pathlib import Path

from files.writing import write_whole
from model_check.liveness.page import page, searched

if __name__ == "__main__":
    results = searched(lambda what: print(what, file=sys.stderr, flush=True))
    write_whole(Path("docs/generated/liveness.md"), page(results))
