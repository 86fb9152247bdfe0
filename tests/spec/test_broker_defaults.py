"""RocketMQ's defaults by release, as its sources have them."""

from __future__ import annotations

import pytest

from spec.releases.broker_defaults import DEFAULTS, NEWEST_RELEASE, defaults_of, release_numbers

_CHANGED = {
    "transactionTimeOut": {"4.3.0": 3_000, "4.3.1": 6_000, "5.5.1": 6_000},
    "transactionCheckMax": {"4.3.0": 5, "4.3.1": 15, "5.5.1": 15},
    "transactionCheckInterval": {"4.9.7": 60_000, "5.1.0": 60_000, "5.1.1": 30_000, "5.3.3": 30_000, "5.5.1": 30_000},
    "transactionMetricFlushInterval": {"5.2.0": 3_000, "5.3.3": 3_000, "5.4.0": 10_000},
}


@pytest.mark.parametrize("name", _CHANGED)
def test_a_default_changes_in_the_release_that_changed_it(name: str) -> None:
    assert {release: defaults_of(release)[name] for release in _CHANGED[name]} == _CHANGED[name]


def test_every_other_default_is_the_same_in_all_releases_that_have_it() -> None:
    changed = {default.name for default in DEFAULTS if len(default.since) > 1}
    assert changed == set(_CHANGED)


def test_the_values_of_a_default_are_told_from_the_oldest_release_to_the_newest() -> None:
    for default in DEFAULTS:
        releases = [release_numbers(release) for release, _ in default.since]
        assert releases == sorted(set(releases))
        assert releases[-1] <= release_numbers(NEWEST_RELEASE)


def test_a_profile_with_turned_switches_has_the_defaults_of_its_release() -> None:
    assert defaults_of("4.9.7+batches_ops").values == defaults_of("4.9.7").values
    assert defaults_of("4.9.7+batches_ops").remark == ""


@pytest.mark.parametrize(
    ("release", "whose", "remark"),
    [
        ("5.5.1", "5.5.1", ""),
        ("5.3.1", "5.3.1", ""),
        (
            "5.10.0",
            "5.5.1",
            "5.10.0 is newer than any release that was read: its defaults are taken to be those of 5.5.1",
        ),
        ("4.2.0", "4.3.0", "4.2.0 is older than transactional messages: its defaults are taken to be those of 4.3.0"),
        (None, "5.5.1", "the release is not known: the defaults are those of 5.5.1"),
        ("fixed", "5.5.1", "the release is not known: the defaults are those of 5.5.1"),
    ],
)
def test_a_release_that_was_not_read_has_the_nearest_defaults_and_is_told_so(
    release: str | None, whose: str, remark: str
) -> None:
    found = defaults_of(release)
    assert (found.release, found.remark) == (whose, remark)
    assert found.values == defaults_of(whose).values
