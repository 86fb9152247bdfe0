"""Which profile of the specification stands for a release of RocketMQ, and why."""

from __future__ import annotations

from typing import Final

from model_check.errors import ModelCheckError
from spec.profiles import VERSIONS
from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers

STANDS_FOR: Final = {
    "4.5.1": ("4.3.0", "4.5.2"),
    "4.9.7": ("4.6.0", "5.0.0"),
    "5.3.3": ("5.1.0", "5.3.3"),
    "5.4.0": ("5.3.4", "5.4.0"),
    "5.5.0": ("5.5.0", "5.5.0"),
    "5.5.1": ("5.5.1", NEWEST_RELEASE),
}
"""The first and the last release that each profile stands for, the oldest profile first."""

TURNED: Final = (
    ("4.5.2", "4.5.2", "+keeps_discarded"),
    ("4.6.0", "4.9.3", "+rewinds_beyond_end"),
    ("4.6.0", "4.9.4", "+undecodable_throws"),
    ("5.0.0", "5.0.0", "+undecodable_throws"),
    ("5.0.0", "5.0.0", "+lower_end_passes_all"),
    ("5.0.0", "5.0.0", "+truncates_running"),
    ("5.1.0", "5.1.0", "-refuses_late_end"),
)
"""From the first release to the last, the switch by which they differ from the profile that stands for them."""

_OF_HALVES_ONLY: Final = "+undecodable_throws"
"""One switch for halves and op messages; where it is turned here, a round dies of a half only (`#getHalfMsg`), and
leaves an op message out that cannot be decoded."""

_NUMBERS: Final = 3


def profile_for(release: str, *, with_switches: bool = False) -> tuple[str, str]:
    """The profile by which a release is judged, and why it is that one; '' where the release is a profile itself.

    `with_switches` turns the switches by which the release is known to differ from the profile; else only the reason
    names them. Raises `ModelCheckError` when the text names no release, or one that has no transactional messages of
    this kind.

    Examples
    --------
    >>> profile_for("5.5.1")
    ('5.5.1', '')
    >>> profile_for("5.2.0")
    ('5.3.3', '5.2.0 has no profile: it is judged by 5.3.3, which stands for 5.1.0 to 5.3.3')
    >>> profile_for("4.5.2", with_switches=True)[0]
    '4.5.1+keeps_discarded'
    """
    if release in VERSIONS:
        return release, ""
    numbers = release_numbers(release)
    older = [profile for profile, (first, _) in STANDS_FOR.items() if release_numbers(first) <= numbers]
    if not older or len(numbers) != _NUMBERS or ".".join(map(str, numbers)) != release:
        msg = (
            f"no release {release!r}; expected one such as {', '.join(VERSIONS)}, from {STANDS_FOR[VERSIONS[0]][0]} on"
        )
        raise ModelCheckError(msg)
    profile = older[-1]
    first, last = STANDS_FOR[profile]
    turned = [switch for since, until, switch in TURNED if release_numbers(since) <= numbers <= release_numbers(until)]
    nearer = f"{profile}{''.join(turned)}"
    if turned and with_switches:
        why = f"{release} has no profile: it is judged by {nearer}, as {profile} stands for {first} to {last}"
        if _OF_HALVES_ONLY in turned:
            instead = nearer.replace(_OF_HALVES_ONLY, "")
            why += f"; with undecodable_op, ask {instead}: its rounds leave such op messages out"
        return nearer, why
    reason = "the nearest" if first == last else f"which stands for {first} to {last}"
    why = f"{release} has no profile: it is judged by {profile}, {reason}"
    if turned:
        why += f"; nearer to it comes {nearer}"
    if numbers > release_numbers(NEWEST_RELEASE):
        why += f"; {release} is newer, and its source has not been read"
    return profile, why
