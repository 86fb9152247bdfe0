"""Wording of a shutdown."""

from model_check.wording.actions import Wording, bar

begin_stop = Wording(
    "the broker is told to stop: its connections close, and its op batch thread ends", bar("the broker begins to stop")
)
stop = Wording("the broker's process comes to its end, and starts again", bar("the broker is stopped and starts again"))
