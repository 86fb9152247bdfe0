"""Wording of the discarding of a half in a round."""

from model_check.wording.actions import Wording, box

discard_half = Wording(
    "the round discards half {passed}: {why_discarded}", box("Check service", "half {cursor} discarded")
)
discard_half_unrecorded = Wording(
    "the round discards half {passed}: {why_discarded}; its record in the discard topic is not stored",
    box("Check service", "half {cursor} discarded, no record of it"),
)
discard_instead_of_check = Wording(
    "the round discards half {passed}: no op message names it, and its checks are used up",
    box("Check service", "half {cursor} discarded, all ops read"),
)
discard_what_cannot_be_copied = Wording(
    "the round puts half {passed} aside, which can be neither copied nor read",
    box("Check service", "half {cursor} discarded as it is"),
)
