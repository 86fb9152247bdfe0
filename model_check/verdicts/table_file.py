"""Reading and writing `results/verdicts.toml`."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_check.errors import BadFile
from model_check.verdicts.environment import QUIET
from model_check.verdicts.table import Entries, Entry, Plan, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEADER = """\
# The verdict on each clause in each environment, by profile and instance.
#
# Written by `halfcheck verdicts --update`; `make verdicts` searches everything again and compares. An entry gives the
# states that were found (distinct), the successors that were looked at (generated) and the steps to the deepest state,
# then the clauses that are violated, each with the steps of its shortest violation. What is not named holds, to the
# bound of the instance; after a search that was cut short it is listed as unknown. The quiet world and each fault have
# an entry; two faults or more have one if they break, or may break, a clause that fewer of them do not. An idle fault
# does nothing in that version. Only [plan] is written by hand: how many faults at once, where a search is cut short.
"""


def table_file() -> Path:
    """`results/verdicts.toml`."""
    return Path(str(resources.files("model_check.verdicts.results").joinpath("verdicts.toml")))


def read_table(file: Path) -> Table:
    """Read a table of verdicts.

    Raises
    ------
    BadFile
        When the file is not TOML, or lacks something, or names what is not a set of faults.
    """
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{file}: {getattr(error, 'strerror', None) or error}; `halfcheck verdicts --update` writes it anew"
        raise BadFile(msg) from error
    try:
        profiles, faults, clauses = (tuple(told.get(name, ())) for name in ("profiles", "faults", "clauses"))
        plan = {name: Plan(**given) for name, given in told["plan"].items()}
        table = Table(told.get("specification", ""), profiles, faults, clauses, plan)
        for profile, instances in told.get("verdicts", {}).items():
            for instance, environments in instances.items():
                table.entries.setdefault(profile, {})[instance] = _read_entries(environments)
    except (KeyError, TypeError, AttributeError) as error:
        msg = f"{file}: {error!r} is missing or not as `halfcheck verdicts --update` writes it"
        raise BadFile(msg) from error
    return table


def _read_entries(environments: dict[str, Any]) -> Entries:
    entries: Entries = {}
    for name, given in environments.items():
        if given.get("idle"):
            quiet = entries[QUIET]
            entries[name] = Entry(quiet.distinct, quiet.generated, quiet.depth, quiet.violated, quiet.unknown, True)
        else:
            unknown = tuple(given.get("unknown", ()))
            entries[name] = Entry(given["distinct"], given["generated"], given["depth"], given["violated"], unknown)
    return entries


def written(table: Table) -> str:
    """The text of the file; `read_table` reads it back."""
    lines = [HEADER, f'specification = "{table.specification}"']
    lines += [_list(name, getattr(table, name)) for name in ("profiles", "faults", "clauses")]
    lines += ["", "[plan]"]
    for name, plan in table.plan.items():
        lines.append(f"{name} = {{ most_faults = {plan.most_faults}, most_states = {plan.most_states} }}")
    for profile, instance, name, entry in table.everything():
        key = name if "," not in name else f'"{name}"'
        lines += ["", f'[verdicts."{profile}".{instance}.{key}]', *_entry(entry)]
    return "\n".join(lines) + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    if entry.is_idle:
        yield "idle = true"
        return
    yield f"distinct = {entry.distinct}"
    yield f"generated = {entry.generated}"
    yield f"depth = {entry.depth}"
    violated = ", ".join(f'"{clause}" = {depth}' for clause, depth in entry.violated.items())
    yield f"violated = {{ {violated} }}" if violated else "violated = {}"
    if entry.unknown:
        yield _list("unknown", entry.unknown)


def _list(name: str, values: Sequence[str]) -> str:
    quoted = ", ".join(f'"{value}"' for value in values)
    return f"{name} = [{quoted}]"
