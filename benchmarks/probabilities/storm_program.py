"""``python storm_program.py FILE.drn STEPS LABEL…``: what Storm says of a chain, as JSON; it has an own environment.

The probability to reach each label in the end is a fraction, in exact arithmetic; that within the steps is a number.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any

import stormpy


def main(file: str, steps: str, labels: list[str]) -> None:
    """Print it."""
    began = perf_counter()
    exact = stormpy.build_model_from_drn[stormpy.Rational](file)
    initial = exact.initial_states[0]
    ever = [_asked(exact, initial, f'P=? [F "{label}"]') for label in labels]
    rounded = stormpy.build_model_from_drn(file)
    within = [_asked(rounded, initial, f'P=? [F<={steps} "{label}"]') for label in labels]
    answer = {
        "version": stormpy.__version__,
        "ever": [str(one) for one in ever],
        "within": within,
        "seconds": perf_counter() - began,
    }
    print(json.dumps(answer))


def _asked(model: Any, initial: int, text: str) -> Any:
    found = stormpy.model_checking(model, stormpy.parse_property(text), only_initial_states=True)
    return found.get_value(initial)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
