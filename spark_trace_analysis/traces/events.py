"""The places of events in the vocabulary, by name: ``events.message_delivered``.

Compiled kernels take them for constants, and are cached from run to run: a new event goes behind the others.
"""

from spec.events import EVENTS

globals().update({name: place for place, name in enumerate(EVENTS)})


def __getattr__(name: str) -> int:
    message = f"there is no event {name!r}: known are {', '.join(EVENTS)}"
    raise AttributeError(message)
