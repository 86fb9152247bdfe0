"""The version of a release in a header: its place in the enum ``MQVersion.Version``.

Each minor release has ten patch releases there, each behind a snapshot; they are counted from 4.3.0 on.
"""

from __future__ import annotations

from spec.releases.broker_defaults import release_numbers

_FIRST, _FIRST_MINOR = 273, 43
_A_MINOR = 20


def version_of(release: str) -> int:
    """The number of a release from 4.3.0 on.

    Examples
    --------
    >>> [version_of(release) for release in ("4.3.0", "4.5.1", "4.9.7", "5.0.0", "5.3.3", "5.5.0")]
    [273, 315, 407, 413, 479, 513]
    """
    major, minor, patch = release_numbers(release)
    return _FIRST + (10 * major + minor - _FIRST_MINOR) * _A_MINOR + 2 * patch


def release_of(version: int) -> str | None:
    """The release that a number stands for; None for one before 4.3.0, or a snapshot.

    Examples
    --------
    >>> release_of(315), release_of(513), release_of(512), release_of(5)
    ('4.5.1', '5.5.0', None, None)
    """
    minors, patches = divmod(version - _FIRST, _A_MINOR)
    if version < _FIRST or patches % 2:
        return None
    minor = _FIRST_MINOR + minors
    return f"{minor // 10}.{minor % 10}.{patches // 2}"
