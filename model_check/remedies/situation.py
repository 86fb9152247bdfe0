"""What is known of whoever asks what to do: the release, what may go wrong there, the times of the configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from model_check.instances import unturned
from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

_SECOND_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Situation:
    """Whom an advice is for.

    Attributes
    ----------
    release : str
        A release; empty where none is known, and advice for all is said with the releases that it is for.
    faults : frozenset of str or None
        What may go wrong; None where that is not known.
    times : dict
        Of a `broker.conf`: `timeout_ms`, `check_interval_ms`, and `immunity_ms`, the longest of its messages or 0;
        empty without one.
    """

    release: str = ""
    faults: frozenset[str] | None = None
    times: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        profile: str,
        faults: Collection[str] | None = None,
        *,
        release: str = "",
        times: Mapping[str, int] | None = None,
    ) -> Self:
        """Of a profile, in a world with some faults; the release is the profile's unless another one was asked for.

        Examples
        --------
        >>> Situation.of("5.3.3+keeps_flag", ["crash"]).release, Situation.of("fixed").release
        ('5.3.3', '5.5.1')
        """
        base = unturned(profile)
        return cls(
            release or (base if release_numbers(base) else NEWEST_RELEASE),
            None if faults is None else frozenset(faults),
            times or {},
        )


QUESTIONS: Final[dict[str, Callable[[Situation], bool]]] = {
    "may_be_immune": lambda asked: asked.times.get("immunity_ms", 1) > 0,
    "timeout_below_a_second": lambda asked: 0 < asked.times.get("timeout_ms", 0) < _SECOND_MS,
    "interval_below_a_second": lambda asked: 0 < asked.times.get("check_interval_ms", 0) < _SECOND_MS,
}
"""What `when` may ask of a configuration."""
