"""``python -m benchmarks.bounded_search``: what the Z3 engine needs for each depth of some questions, as JSON."""

from __future__ import annotations

import json

from model_check.check import chosen_clauses
from model_check.instances import constants_for
from model_check.symbolic.bounded import DepthDone, search
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

QUESTIONS = [
    ("5.3.3", (), "tiny", "S1.immune_half", 20),
    ("4.9.7", (), "tiny", "S1.immune_half", 20),
    ("5.3.3", ("crash",), "tiny", "S1.forked_copy", 20),
    ("5.3.3", ("crash",), "tiny", "S1.unexplained", 30),
    ("5.3.3", (), "small", "S1.immune_half", 20),
    ("5.3.3", ("crash",), "small", "S1.forked_copy", 20),
    ("4.5.1", ("crash",), "small", "S1.passed_op", 20),
    ("5.3.3", ("crash",), "small", "S1.unexplained", 20),
    ("5.3.3", (), "medium", "S1.immune_half", 20),
]
"""Profile, faults, instance, clause and bound."""


def main() -> None:
    """Ask each question once and print one JSON object a line."""
    for profile, faults, instance, clause, most_steps in QUESTIONS:
        (wanted,) = chosen_clauses(TRANSACTIONAL_MESSAGES, [clause])
        done: list[DepthDone] = []
        found = search(
            TRANSACTIONAL_MESSAGES, constants_for(profile, faults, instance), wanted, most_steps, done.append
        )
        answer = {
            "question": [profile, *faults, instance, clause],
            "verdict": found.verdict.value,
            "depth": found.depth,
            "seconds": round(found.seconds, 2),
            "seconds_by_depth": [round(depth.seconds, 2) for depth in done],
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
