"""``python -m benchmarks.portfolio [PROFILES] [SEED]``: is what holds of drawn profiles ever false; writes RESULTS.md.

What is finished is kept below `build/portfolio`, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.computer import computer
from benchmarks.portfolio.drawn_profiles import MOST_TURNED, drawn_profiles
from benchmarks.portfolio.held import LARGER, MOST_STATES, MUST_BE_SEARCHED, held_against
from model_check.answers.chosen_instances import FOR_NO_RELEASE
from model_check.fingerprint import engine_fingerprint, specification_fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS = Path(__file__).with_name("RESULTS.md")
KEPT = Path("build/portfolio")
PROFILES: Final = 150
SEED: Final = 47


def main(profiles: int, seed: int) -> int:
    """Search, print a line a profile, write the page; 1 if something is said to hold that does not."""
    wanted = drawn_profiles(profiles, seed)
    kept = _kept()
    found = _read(kept)
    for number, profile in enumerate(wanted, start=1):
        if profile.name not in found:
            found[profile.name] = held_against(profile).to_json()
            with kept.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(found[profile.name])}\n")
        mine = found[profile.name]
        seconds = " + ".join(map(str, mine["seconds"]))
        print(f"{number}/{profiles} {profile}: false {mine['false'] or 'none'}; {seconds} s", flush=True)
    rows = [found[profile.name] for profile in wanted]
    RESULTS.write_text(report(rows, seed), encoding="utf-8")
    return int(any(row["false"] for row in rows))


def report(rows: Sequence[dict[str, Any]], seed: int) -> str:
    """The results as Markdown."""
    besides = Counter(where for row in rows for where in set(row["found_besides"].values()))
    saved = [row for row in rows if row["found_besides"]]
    false = [row for row in rows if row["false"]]
    portfolio, larger = ([row["seconds"][part] for row in rows] for part in (0, 1))
    searched = Counter(name for row in rows for name, states in row["states"].items() if states > 0)
    beyond = " and ".join(LARGER)
    lines = [
        "# Is what is said to hold ever false?",
        "",
        "Written by `make bench-portfolio`.",
        "",
        computer("Numba"),
        f"{len(rows)} profiles, each a release with one to {MOST_TURNED} switches turned (seed {seed}), in the quiet",
        f"world. What the portfolio does not break is held against {', '.join(MUST_BE_SEARCHED)}, which it has for",
        f"profiles that are no releases, and against {beyond}, each cut short at {MOST_STATES:,} states.",
        "",
        f"- Profiles of which something is said to hold that one of these breaks: **{len(false)}** of {len(rows)}.",
        f"- Without {', '.join(FOR_NO_RELEASE)}, it would be {len(saved)}.",
        f"- Processor seconds a profile: the portfolio {sum(portfolio) / len(rows):.1f}, at most {max(portfolio):.1f};",
        f"  the larger ones {sum(larger) / len(rows):.1f}.",
        "",
        "| instance | of so many profiles all states were seen | of so many it showed what the plan does not |",
        "|---|--:|--:|",
        *(f"| {name} | {searched[name]} | {besides[name] or ''} |" for name in (*FOR_NO_RELEASE, *LARGER)),
        "",
    ]
    if false:
        lines += ["| profile | false |", "|---|---|", *(f"| {row['profile']} | {row['false']} |" for row in false), ""]
    lines += [
        "| broken besides, and by no instance of the plan | profiles |",
        "|---|--:|",
        *(
            f"| {clause} | {number} |"
            for clause, number in Counter(clause for row in saved for clause in row["found_besides"]).most_common()
        ),
        "",
    ]
    return "\n".join(lines)


def _kept() -> Path:
    """The file of this specification, this search and this portfolio."""
    KEPT.mkdir(parents=True, exist_ok=True)
    portfolio = "-".join(f"{name}x{most}" for name, most in FOR_NO_RELEASE.items())
    return KEPT / f"{specification_fingerprint()}-{engine_fingerprint()}-{portfolio.replace('@', '_')}.jsonl"


def _read(kept: Path) -> dict[str, dict[str, Any]]:
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return {row["profile"]: row for row in map(json.loads, lines)}


if __name__ == "__main__":
    sys.exit(main(*(int(given) for given in (*sys.argv[1:3], *map(str, (PROFILES, SEED)[len(sys.argv) - 1 :])))))
