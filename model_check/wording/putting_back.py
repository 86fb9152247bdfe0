"""Wording of the putting back of a half in a round."""

from model_check.wording.actions import Wording, arrow

put_back_immune_half = Wording(
    "half {passed} is immune: it is put back as half {last} (check {checks})",
    arrow("Check service", "Half queue", "copy {copy} of half {cursor} for immunity"),
)
put_back_and_check = Wording(
    "half {passed} is put back as half {last} (check {checks}), and its producer is asked",
    arrow("Check service", "Half queue", "copy {copy} of half {cursor} for a check"),
    arrow("Check service", "Producer", "check half {copy}"),
)
put_back_unasked = Wording(
    "half {passed} is put back as half {last} (check {checks}), and nobody is there to be asked",
    arrow("Check service", "Half queue", "copy {copy} of half {cursor}, nobody to ask"),
)
