"""``python -m halfcheck`` is the command ``halfcheck``."""

from halfcheck.app import main

if __name__ == "__main__":
    main()
