"""What went wrong in a play, so that it can be known again in another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from halfcheck.probe.session import Played
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class Failure:
    """A broken clause, or a record that nothing explains.

    Attributes
    ----------
    what
        The clause, such as ``S1.immune_half``; or the kind of the record and the rule that refuses it.
    clause
        None for a record.
    """

    what: str
    clause: Property | None = None

    def __str__(self) -> str:
        return self.what if self.clause is not None else f"not explained: {self.what}"

    def is_in(self, played: Played) -> bool:
        """Whether it came in another play, too."""
        return self in _all_of(played)


def failure_of(played: Played, wanted: Collection[Property]) -> Failure | None:
    """What a play is shrunk for: a record that nothing explains, or else the first of the wanted clauses broken."""
    return next((each for each in _all_of(played) if each.clause is None or each.clause in wanted), None)


def _all_of(played: Played) -> list[Failure]:
    judgement = played.judgement
    if judgement is None:
        return []
    if judgement.is_explained:
        return [Failure(each.name, each.clause) for each in judgement.broken]
    found = judgement.verdict.divergence
    return [Failure("the search names no record" if found is None else f"{found.event.kind.value}: {found.guard}")]
