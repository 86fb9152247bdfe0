"""Time for our broker while a client is led: it passes only where nobody owes it an answer, however slow all are.

The broker runs with ``--clock virtual``. Time stands still while a half waits for the END_TRANSACTION of its producer,
or a check for its answer, and while the broker knows of no producer; so no check is asked twice as a client was slow.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final, Self

from reference.format.properties import TRANSACTION_PREPARED
from wire.errors import WireError
from wire.remoting.codes import RequestCode
from wire.remoting.command import decode

if TYPE_CHECKING:
    from tests.wire.clients.relay import Seen
    from wire.control.controller import Controller

STEP_MS: Final = 250
"""Of the broker's clock at a time."""
EVERY_SECONDS: Final = 0.025
PATIENCE_SECONDS: Final = 30.0
"""How long an answer is waited for; what does not come then shows in the outcome."""

_SENDS: Final = {RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2}
_HALF: Final = f"{TRANSACTION_PREPARED}\x01true"


class Pacer:
    """Pushes the clock, from entering the context on.

    Parameters
    ----------
    controller
        Of the broker.
    seen
        What goes over the wire, as it comes.
    group
        Whose producer must be known.
    by_proxy
        Whether the first proxy must know it, and not the broker, which hears of it as time passes.
    """

    def __init__(self, controller: Controller, seen: list[Seen], group: str, *, by_proxy: bool = False) -> None:
        self._controller = controller
        self._seen = seen
        self._group = group
        self._by_proxy = by_proxy
        self._counted = 0
        self._owed = 0
        self._owed_since = time.monotonic()
        self._passed_ms = 0
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def let_pass(self, ms: int, seconds: float) -> None:
        """Wait until so much of the broker's time has passed, but no longer than some seconds."""
        until, end = self._passed_ms + ms, time.monotonic() + seconds
        while self._passed_ms < until and time.monotonic() < end:
            time.sleep(EVERY_SECONDS)

    def forgive(self) -> None:
        """The broker's process is gone: what it waited for does not come any more."""
        with self._lock:
            self._count()
            self._owed = 0

    def _run(self) -> None:
        while not self._ends.wait(EVERY_SECONDS):
            try:
                if self._is_time():
                    self._controller.push_clock(STEP_MS)
                    self._passed_ms += STEP_MS
            except WireError:
                continue  # its process is gone, and the next one has not come

    def _is_time(self) -> bool:
        with self._lock:
            self._count()
            if self._owed > 0 and time.monotonic() - self._owed_since < PATIENCE_SECONDS:
                return False
        status = self._controller.status()
        knows = status["proxies"][0] if self._by_proxy else status
        return bool(status["is_up"]) and self._group in knows["producers"]

    def _count(self) -> None:
        """What halves and checks the broker has, without those that were answered."""
        new = self._seen[self._counted :]
        self._counted += len(new)
        owed = self._owed + sum(map(_owes, new))
        if owed != self._owed:
            self._owed, self._owed_since = owed, time.monotonic()


def _owes(seen: Seen) -> int:
    command = decode(seen.frame)
    if command.is_response:
        return 0
    if not seen.is_from_client:
        return int(command.code == RequestCode.CHECK_TRANSACTION_STATE)
    if command.code == RequestCode.END_TRANSACTION:
        return -1
    return int(command.code in _SENDS and any(_HALF in text for text in command.fields.values()))
