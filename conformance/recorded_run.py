"""A store directory with the logs of its run beside it: a golden store, or another of the same form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.errors import NoScheduleError
from files.content import parse_json
from files.reading import decompress, read_bytes
from reference.format.broker_conf import find_broker_conf

if TYPE_CHECKING:
    from pathlib import Path

LOGS = ("driver.jsonl", "transaction.log", "meta.json")


@dataclass(frozen=True)
class RecordedRun:
    """Records of a broker's run: its store, its settings and its logs."""

    path: Path
    """The store directory; the logs lie in it or beside it, plain or as ``.gz``."""
    conf: Path | None = None
    """Another ``broker.conf`` than the one in the store or beside it."""

    def missing(self) -> list[str]:
        """The names of the files that a schedule needs and that are not there."""
        names = [name for name in LOGS if self._find(name) is None]
        return names if self.conf or find_broker_conf(self.path) else [*names, "broker.conf"]

    def require(self) -> None:
        """Raise `NoScheduleError` if a log is not there."""
        missing = self.missing()
        if missing:
            message = (
                f"{self.path} has no {', '.join(missing)}: a schedule for the reference broker is made out of the "
                "store, broker.conf, driver.jsonl, transaction.log and meta.json (conformance/golden/README.md)"
            )
            raise NoScheduleError(message)

    @property
    def broker_conf(self) -> Path:
        """The broker's settings."""
        path = self.conf or find_broker_conf(self.path)
        if path is None:
            self.require()
        assert path is not None  # noqa: S101
        return path

    @property
    def at_kill(self) -> Path | None:
        """The store as it was when the broker was killed."""
        paths = (self.path / "at_kill", self.path.resolve().parent / "at_kill")
        return next((path for path in paths if path.is_dir()), None)

    def meta(self) -> dict[str, Any]:
        """``meta.json``."""
        content = self._json("meta.json", self._text("meta.json"))
        events = content.get("events")
        if "version" not in content or not isinstance(events, list) or not all(map(_is_event, events)):
            message = f"{self.path}/meta.json does not say version and events, each with its name and time"
            raise NoScheduleError(message)
        return content

    def driver_events(self) -> list[dict[str, Any]]:
        """``driver.jsonl``."""
        lines = enumerate(self._text("driver.jsonl").splitlines(), start=1)
        return [self._json(f"driver.jsonl, line {number}", line) for number, line in lines if line.strip()]

    def transaction_log(self) -> str:
        """``transaction.log``."""
        return self._text("transaction.log")

    def _json(self, place: str, text: str) -> dict[str, Any]:
        try:
            content = parse_json(text)
        except ValueError as error:
            message = f"{self.path}/{place}: {error}"
            raise NoScheduleError(message) from error
        if not isinstance(content, dict):
            message = f"{self.path}/{place}: not a JSON object"
            raise NoScheduleError(message)
        return content

    def _find(self, name: str) -> Path | None:
        folders = (self.path, self.path.resolve().parent)
        paths = (folder / each for folder in folders for each in (name, f"{name}.gz"))
        return next((path for path in paths if path.is_file()), None)

    def _text(self, name: str) -> str:
        path = self._find(name)
        if path is None:
            self.require()
        assert path is not None  # noqa: S101
        try:
            raw = read_bytes(path)
            return (decompress(raw) if path.suffix == ".gz" else raw).decode()
        except (OSError, ValueError) as error:
            message = f"{path} can't be read: {error}"
            raise NoScheduleError(message) from error


def _is_event(event: object) -> bool:
    return isinstance(event, dict) and isinstance(event.get("ev"), str) and isinstance(event.get("t"), int)
