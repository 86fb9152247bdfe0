"""Compare the worlds of `docs/generated/any-length.md`, and write the page anew: `make any-length`."""

from __future__ import annotations

import sys
from pathlib import Path

from files.writing import write_whole
from model_check.any_length.page import compared, page

if __name__ == "__main__":
    results = compared(lambda what: print(what, file=sys.stderr, flush=True))
    write_whole(Path("docs/generated/any-length.md"), page(results))
    sys.exit(any(found.difference is not None for found, _ in results.values()))
