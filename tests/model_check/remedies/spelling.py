"""How RocketMQ spells its settings, and words that are for other releases than the one that was asked."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from reference.format.broker_keys import known_keys
from tests.model_check.defects.test_affected import RELEASES

FOR_NOBODY: Final = re.compile(r"from \d[\d.]* on|up to \d[\d.]*|\d to \d|before \d")
"""A range of releases, where one release was asked."""

CLIENT_KEYS: Final = ("retryTimesWhenSendFailed",)
"""Settings of DefaultMQProducer, which no broker.conf has."""


@cache
def keys() -> set[str]:
    """The settings of all brokers, and of producers; words that are a setting of one letter's case only are none."""
    brokers = {key for release in RELEASES for key in (known_keys(release) or ())}
    return {key for key in (*brokers, *CLIENT_KEYS) if re.search(r"[a-z][A-Z]", key)}


@cache
def _by_small_letters() -> dict[str, str]:
    return {key.lower(): key for key in keys()}


def misspelled(text: str) -> list[str]:
    """The words that are a setting in other letters than RocketMQ's: a broker ignores them."""
    words, known = re.findall(r"\b[A-Za-z]+\b", text), _by_small_letters()
    return [word for word in words if word.lower() in known and word != known[word.lower()]]
