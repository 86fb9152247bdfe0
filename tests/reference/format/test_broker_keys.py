"""The keys that a broker reads: those of real files are known, misspelled ones are named with what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_stores
from reference.format.broker_conf import find_broker_conf, settings
from reference.format.broker_keys import Key, UnknownKey, keys_of, known_keys, nearest_key, unknown_keys
from reference.format.java_properties import Setting
from spec.releases.broker_defaults import DEFAULTS, defaults_of

if TYPE_CHECKING:
    from collections.abc import Iterable

RELEASES = ("4.3.0", "4.5.1", "4.9.7", "5.0.0", "5.1.0", "5.1.4", "5.2.0", "5.3.3", "5.4.0", "5.5.0", "5.5.1")


def given(*keys: str) -> Iterable[Setting]:
    return [Setting(line, key, "") for line, key in enumerate(keys, start=1)]


def test_every_key_that_a_golden_broker_was_started_with_is_known() -> None:
    seen = 0
    for store in golden_stores():
        path = find_broker_conf(store.path)
        assert path is not None
        ignored = {key.key for key in unknown_keys(settings(path), store.version)}
        # The harness writes one file for all versions; 4.x has no timer wheel, and 4.5.1 spells mapped with one p.
        assert ignored <= OF_LATER_VERSIONS.get(store.version, set())
        seen += len(list(settings(path)))
    assert seen > 100


OF_LATER_VERSIONS = {
    "4.5.1": {"timerWheelEnable", "mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue"},
    "4.9.7": {"timerWheelEnable"},
    "5.0.0": {"transactionOpBatchInterval"},
}


@pytest.mark.parametrize(
    ("key", "versions"),
    [
        ("transactionTimeOut", " ".join(RELEASES)),
        ("transactionOpBatchInterval", "5.1.0 5.1.4 5.2.0 5.3.3 5.4.0 5.5.0 5.5.1"),
        ("transactionMetricFlushInterval", "5.2.0 5.3.3 5.4.0 5.5.0 5.5.1"),
        ("enableControllerMode", "5.0.0 5.1.0 5.1.4 5.2.0 5.3.3 5.4.0 5.5.0 5.5.1"),
        ("timerWheelEnable", "5.0.0 5.1.0 5.1.4 5.2.0 5.3.3 5.4.0 5.5.0 5.5.1"),
        ("enableDLegerCommitLog", "4.5.1 4.9.7 5.0.0 5.1.0 5.1.4 5.2.0 5.3.3 5.4.0 5.5.0 5.5.1"),
        ("transRocksDBEnable", "5.4.0 5.5.0 5.5.1"),
        ("enableLiteEventMode", "5.5.0"),
        ("maxCheckMessageReuseBufferSize", "5.5.1"),
        ("mapedFileSizeCommitLog", "4.3.0 4.5.1"),
        ("brokerIP1", " ".join(RELEASES)),
        ("rmqAddressServerDomain", " ".join(RELEASES)),
        ("authenticationEnabled", "5.3.3 5.4.0 5.5.0 5.5.1"),
        ("transactionTimeout", ""),
    ],
)
def test_a_key_is_known_to_the_releases_that_read_it(key: str, versions: str) -> None:
    assert [release for release in RELEASES if key in known_keys(release)] == versions.split()


def test_releases_without_a_profile_have_keys_of_their_own_both_ways() -> None:
    assert len(known_keys("5.0.0") - known_keys("4.9.7")) == 119
    assert len(known_keys("5.3.3") - known_keys("5.1.4")) > 80
    assert known_keys("4.9.6") == known_keys("4.9.5")
    assert known_keys("4.2.0") == known_keys("4.3.0")
    assert known_keys("9.0.0") == known_keys("5.5.1") == frozenset(keys_of(None))


def test_a_key_has_the_type_of_its_setter_and_the_default_of_its_field() -> None:
    assert keys_of("4.3.0")["transactionTimeOut"] == Key("transactionTimeOut", "long", "3000")
    assert keys_of("5.3.3")["transactionTimeOut"] == Key("transactionTimeOut", "long", "6000")
    assert keys_of("5.3.3")["brokerRole"] == Key("brokerRole", "ASYNC_MASTER|SYNC_MASTER|SLAVE", "ASYNC_MASTER")
    assert keys_of("5.3.3")["listenPort"] == Key("listenPort", "int", "10911")
    assert keys_of("5.3.3")["brokerIP1"] == Key("brokerIP1", "String", "")
    assert keys_of("5.3.3")["diskMaxUsedSpaceRatio"].default == "75"


@pytest.mark.parametrize("release", RELEASES)
def test_the_defaults_that_answers_rest_on_are_those_of_the_table(release: str) -> None:
    keys, shared = keys_of(release), 0
    for default in DEFAULTS:
        if default.name in keys:
            shared += 1
            value = defaults_of(release)[default.name]
            assert keys[default.name].default == (["false", "true"][value] if default.unit == "truth" else str(value))
    assert shared >= 5


def test_misspelled_foreign_and_later_keys_are_told_apart() -> None:
    found = unknown_keys(
        given("transactionTimeout", "fileReservedTime", "colour", "transactionOpBatchInterval", "TransactionCheckMax"),
        "4.9.7",
    )
    assert [(key.line, key.key, key.nearest) for key in found] == [
        (1, "transactionTimeout", "transactionTimeOut"),
        (3, "colour", None),
        (4, "transactionOpBatchInterval", "transactionCheckInterval"),
        (5, "TransactionCheckMax", "transactionCheckMax"),
    ]
    assert found[2].versions[0] == "5.1.0"
    assert nearest_key("transactionTimeout", "6.0") == "transactionTimeOut"
    assert nearest_key("x" * 1_000_000, "5.3.3") is None


@pytest.mark.parametrize(
    ("key", "release", "expected"),
    [
        ("enableControllerMode", "4.9.7", "whose broker ignores it; releases from 5.0.0 on have it"),
        ("enableLiteEventMode", "5.5.1", "whose broker ignores it; 5.5.0 alone has it"),
        (
            "mapedFileSizeCommitLog",
            "4.9.7",
            "whose broker ignores it; releases up to 4.5.1 have it; did you mean mappedFileSizeCommitLog?",
        ),
        (
            "transactionTimeout",
            "5.0.0",
            "is no setting of 5.0.0, whose broker ignores it; did you mean transactionTimeOut?",
        ),
        ("", "5.0.0", "line 1: a value without a key is no setting of 5.0.0, whose broker ignores it"),
        ("\x85内", "5.0.0", "line 1: '\\x85内' is no setting of 5.0.0, whose broker ignores it"),
    ],
)
def test_an_ignored_key_is_told_with_the_releases_that_read_it(key: str, release: str, expected: str) -> None:
    (unknown,) = unknown_keys(given(key), release)
    assert unknown.remark(release).endswith(expected)


def test_a_key_of_a_range_of_releases_is_told_with_both_ends() -> None:
    assert "; releases from 5.1.0 to 5.2.0 have it" in UnknownKey(1, "a", None, ("5.1.0", "5.1.4", "5.2.0")).remark(
        "5.3.3"
    )
