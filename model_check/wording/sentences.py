"""A sentence of words that begin with a small letter, where a setting may stand first."""

from __future__ import annotations

import re


def as_sentence(words: str) -> str:
    """With a capital in front and a full stop behind; a name that RocketMQ or Java spells otherwise stays as it is.

    A broker ignores a key whose first letter is in another case.

    Examples
    --------
    >>> as_sentence("watch the disk"), as_sentence("enableSlaveActingMaster=false; halves then wait for their master")
    ('Watch the disk.', 'enableSlaveActingMaster=false; halves then wait for their master.')
    """
    return f"{capitalized(words)}."


def capitalized(words: str) -> str:
    """The same without a full stop.

    Examples
    --------
    >>> capitalized("a message is lost"), capitalized("broker.conf is missing"), capitalized("null_half")
    ('A message is lost', 'broker.conf is missing', 'null_half')
    """
    first = words.split(" ", 1)[0].rstrip(".,:;")
    is_a_name = re.search(r"[A-Z_=.]", first[1:])
    return words if is_a_name else f"{words[:1].upper()}{words[1:]}"
