"""What to do about a defect of the catalogue: what its clause says, or its line in `defects.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.defects.catalogue import catalogue
from model_check.instances import unturned
from model_check.remedies.of_clauses import remedy
from model_check.remedies.situation import Situation
from model_check.remedies.upgrades import said_of_defects

if TYPE_CHECKING:
    from collections.abc import Collection


def remedy_of(identifier: str, release: str = "", faults: Collection[str] = ()) -> str:
    """What to do about a defect, in one sentence without a full stop.

    Parameters
    ----------
    identifier
    release
        Whose users ask; that in which the search of the catalogue finds it, if it is empty.
    faults
        What may go wrong besides what its search needs.

    Examples
    --------
    >>> remedy_of("A02"), remedy_of("A20")
    ('upgrade to 4.6.0 or later; make the consumer idempotent', 'transactionCheckInterval=60000, as up to 5.1.0')
    """
    search = catalogue()[identifier].search
    if search is None:
        return str(said_of_defects()[identifier]["do"])
    asked = Situation(release or unturned(search.profile), frozenset((*search.faults, *faults)))
    return remedy(search.clause, asked)
