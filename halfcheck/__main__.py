"""The command ``halfcheck``, also as ``python -m halfcheck``: even while Python still loads it, Ctrl-C is one line."""

import sys


def main() -> None:
    """Load the command line and run it."""
    try:
        from halfcheck.app import main as run
    except KeyboardInterrupt:
        print("halfcheck: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
