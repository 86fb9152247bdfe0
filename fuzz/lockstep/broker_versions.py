"""Which version the reference broker is beside a profile of the specification, its repairs included."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Final

from reference.versions.switches import ReleaseSwitches
from reference.versions.versions import STORE_VERSIONS
from spec.releases.broker_defaults import NEWEST_RELEASE

if TYPE_CHECKING:
    from model_check.world import Profile

NO_SWITCH_OF_THE_BROKER: Final = {
    "adopts_slave_offsets": "whose offsets a master that is back takes is said by the driver, which carries them as "
    "SlaveSynchronize does; no process of the reference broker knows another one",
    "batch_thread_oversleeps": "no thread of the reference broker runs by itself in the lockstep; the switch that its "
    "threads go by elsewhere is wakes_by_last_write",
    "truncates_running": "the reference broker has no controller mode, in which a running broker truncates its log",
    "resets_lower_end": "the same: it is about the lower end of a queue after such a truncation",
    "orders_sends": "it concerns the search",
}
"""Switches of the specification that the reference broker does not have, each with the reason."""


def version_of(profile: Profile) -> str:
    """The version by the name that `reference.versions.versions.switches_of` reads.

    A profile that is no release is the newest one with switches turned.

    Examples
    --------
    >>> from model_check.world import Profile
    >>> version_of(Profile.of("4.9.7")), version_of(Profile.of("5.5.1+keeps_flag-batch_thread_oversleeps"))
    ('4.9.7', '5.5.1+keeps_flag')
    """
    release = profile.unturned if profile.unturned in STORE_VERSIONS else NEWEST_RELEASE
    switches, known = asdict(profile.switches), {field.name for field in fields(ReleaseSwitches)}
    turned = (
        f"{'+' if is_on else '-'}{name}"
        for name, is_on in switches.items()
        if name in known and is_on != getattr(STORE_VERSIONS[release], name)
    )
    return release + "".join(turned)
