"""What a broken clause means to whoever runs RocketMQ: how grave it is, what happens to a message, what to do."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from spec.transactional_messages import TRANSACTIONAL_MESSAGES


@dataclass(frozen=True, slots=True)
class Meaning:
    """What it means that a clause is broken.

    Attributes
    ----------
    gravity : int
        0 is the gravest. Clauses of one kind of harm are equally grave.
    kind : str
        The kind of harm: `lost_for_good`, `delivered_twice` …
    harm : str
        What happens to a message, in one sentence without a full stop.
    remedy : str
        What to do about it: a key of the configuration, a version, or what producers and consumers should do.
    """

    gravity: int
    kind: str
    harm: str
    remedy: str


@cache
def meanings() -> dict[str, Meaning]:
    """Of all clauses, by their names, gravest first."""
    text = resources.files("model_check.wording").joinpath("clauses.toml").read_text(encoding="utf-8")
    found: dict[str, Meaning] = {}
    for gravity, (kind, records) in enumerate(tomllib.loads(text).items()):
        always = records.pop("always")
        for clause, (harm, advice) in records.items():
            found[clause] = Meaning(gravity, kind, harm, "; ".join(part for part in (advice, always) if part))
    return found


def meaning_of(clause: str) -> Meaning:
    """What it means that a clause is broken, by its name, such as `S1.immune_half`.

    Raises
    ------
    KeyError
        When there is no such clause.

    Examples
    --------
    >>> meaning_of("S1.immune_half").harm
    'a message that is committed within its immunity is delivered, and delivered again after a check'
    """
    return meanings()[clause]


def clause_names() -> tuple[str, ...]:
    """The names of all clauses, such as `S1.immune_half`, in the order of the machine."""
    return tuple(f"{clause.identifier}.{clause.clause}" for clause in TRANSACTIONAL_MESSAGES.clauses)
