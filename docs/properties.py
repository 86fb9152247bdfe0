"""The page docs/properties.md: the guarantees and their clauses, out of `spec/properties/` and `model_check/wording/`.

`make properties` writes it.
"""

from __future__ import annotations

import re
import sys
from inspect import getdoc
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final

from model_check.wording.clauses import GUARANTEES, meaning_of
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spec.language import Property

PAGE: Final = Path(__file__).with_suffix(".md")
WIDTH: Final = 118

_HEAD: Final = """\
# Properties

What a broker, its producers and its consumers may rely on. `halfcheck check` gives a verdict on each. Written by
`make properties`, out of [`spec/properties/`](../spec/properties) and
[clauses.toml](../model_check/wording/clauses.toml).

A property has *clauses*, one for each cause that may break it, so that a well-known cause hides no other. A verdict
is over a family of instances: *violated* as soon as one of them breaks the clause (with the shortest counterexample
of all, and the instance), *holds* only for every state that any of them can reach, *unknown* where a search was cut
short. Two of [the family](specification.md#versions-environments-instances), `lasting` and `pair`, have
[runs of any length](any-length.md): what they decide holds however long the broker runs; where a queue of theirs is
full, or there are too many states, it is said that a clause holds to the bounds of the others alone (`any_length` in
JSON).

A clause that nothing in the question can break, for want of a fault or of a message that carries an immunity, is no
guarantee: it *cannot occur here*, and is counted apart. Where one instance is asked and the table of verdicts knows
of a violation in another, the answer says so; the exit code is that of the one. Each property has a witness, a state
that shows that there is something for it to speak of.

What a broken clause means to a message, and what to do about it, `halfcheck check` says for the release, the faults
and the settings that were asked; so do [the answer for a broker.conf](broker-conf.md),
[that for an upgrade](upgrade.md) and [the report](report.md). What to do stands in
[remedies.toml](../model_check/remedies/remedies.toml), with the releases and the faults that it is for. A release to
upgrade to is the one that [the catalogue](generated/defects.md) says is rid of the defect, and what names a setting
is backed by a search (`tests/model_check/remedies/`).

The last columns of the tables: a violation *takes* one of the [faults](../spec/faults.py) of a line, a release with a
[switch](../spec/switches.py) on (`+`) or off (`-`), or what an instance or a message must have; the known *defects*
are those of the [catalogue](generated/defects.md) that it resembles. What must happen in the end, P1 to P9, has
[a page of its own](liveness.md).
"""


def page() -> str:
    """The page's text."""
    clauses = [list(group) for _, group in groupby(TRANSACTIONAL_MESSAGES.clauses, key=lambda one: one.identifier)]
    lines = [_HEAD, "| id | in short | the guarantee | clauses |", "|---|---|---|--:|"]
    for group in clauses:
        name, first = group[0].identifier, group[0]
        lines.append(f"| [{name}](#{_anchor(first)}) | {GUARANTEES[name]} | {_guarantee(first)} | {len(group)} |")
    for group in clauses:
        lines += ["", *_section(group)]
    return "\n".join(lines) + "\n"


def _section(clauses: list[Property]) -> Iterator[str]:
    first = clauses[0]
    _, _, more = _docstring(first.function).partition("\n\n")
    yield f"## {_title(first)}\n"
    sentence = _guarantee(first)
    yield fill(f"{sentence[0].upper()}{sentence[1:]}. {' '.join(more.split())}", WIDTH) + "\n"
    yield "| clause | where it is broken | takes | defects |"
    yield "|---|---|---|---|"
    for one in clauses:
        name = f"{one.identifier}.{one.clause}"
        takes = ", and ".join(" or ".join(f"`{part}`" for part in needs.split(" or ")) for needs in one.needs)
        defects = ", ".join(f"[{defect}](generated/defects.md#{defect.lower()})" for defect in one.resembles)
        link = f"generated/verdicts.md#{name.replace('.', '').lower()}"
        yield f"| [{one.clause}]({link}) | {meaning_of(one).harm} | {takes or '–'} | {defects or '–'} |"


def _docstring(function: Callable[..., bool]) -> str:
    return getdoc(sys.modules[function.__module__]) or ""


def _title(clause: Property) -> str:
    return _docstring(clause.function).partition(":")[0].replace(",", ":", 1)


def _anchor(clause: Property) -> str:
    return re.sub(r"[^\w -]", "", _title(clause).lower()).replace(" ", "-")


def _guarantee(clause: Property) -> str:
    """The first sentence of the property's docstring, behind its id and name."""
    sentence = _docstring(clause.function).partition("\n\n")[0].partition(": ")[2]
    return " ".join(sentence.split()).rstrip(".")


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
