"""What is known of whoever asks what to do: the release, what may go wrong there, the times of the configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from model_check.world import Environment, Profile

_SECOND_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Situation:
    """Whom an advice is for.

    Attributes
    ----------
    release : str
        A release; empty where none is known, and advice for all is said with the releases that it is for.
    environment : Environment or None
        What may go wrong; None where that is not known.
    times : dict
        Of a `broker.conf`: `timeout_ms`, `check_interval_ms`, and `immunity_ms`, the longest of its messages or 0;
        empty without one.
    """

    release: str = ""
    environment: Environment | None = None
    times: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        profile: Profile,
        environment: Environment | None = None,
        *,
        release: str = "",
        times: Mapping[str, int] | None = None,
    ) -> Self:
        """Of a profile, in an environment; the release is the profile's unless another one was asked for.

        Examples
        --------
        >>> from model_check.world import Profile
        >>> Situation.of(Profile.of("5.3.3+keeps_flag")).release, Situation.of(Profile.of("fixed")).release
        ('5.3.3', '5.5.1')
        """
        own = profile.unturned if release_numbers(profile.unturned) else NEWEST_RELEASE
        return cls(release or own, environment, times or {})


QUESTIONS: Final[dict[str, Callable[[Situation], bool]]] = {
    "may_be_immune": lambda asked: asked.times.get("immunity_ms", 1) > 0,
    "timeout_below_a_second": lambda asked: 0 < asked.times.get("timeout_ms", 0) < _SECOND_MS,
    "interval_below_a_second": lambda asked: 0 < asked.times.get("check_interval_ms", 0) < _SECOND_MS,
}
"""What `when` may ask of a configuration."""
