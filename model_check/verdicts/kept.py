"""Finished searches, kept in a file, so that a run that was interrupted goes on where it stopped.

One line of JSON a search, appended when the search is done. The file's name has the fingerprints of the specification
and of the engine: what was found with other sources is never read.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from threading import Lock
from typing import TYPE_CHECKING, Any

from model_check.explicit.code_generation.compile import kernel_cache
from model_check.verdicts.environment import from_json, to_json
from model_check.verdicts.fingerprint import engine_fingerprint, specification_fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.verdicts.environment import Environment, Outcome


def kept_file() -> Path:
    """Where finished searches are kept: beside the generated modules, which HALFCHECK_CACHE moves."""
    return kernel_cache() / "verdicts" / f"{specification_fingerprint()}-{engine_fingerprint()}.jsonl"


class KeptSearches:
    """The finished searches of this specification and engine.

    Parameters
    ----------
    file : Path
        Made with the first search that is kept. A last line that was cut off is ignored.
    fresh : bool
        Read nothing; what is found is kept all the same, and counts from then on.
    """

    def __init__(self, file: Path, *, fresh: bool = False) -> None:
        self.file = file
        self._lock = Lock()
        self._found: dict[str, list[tuple[int | None, Outcome]]] = {}
        if not fresh and file.exists():
            for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                self._read(line)

    def find(self, environment: Environment, most_states: int | None) -> list[Outcome]:
        """What is kept of an environment that a search with this limit would also have found, the newest first.

        An incomplete outcome is a prefix of the whole: of a search with another limit it is not offered.
        """
        found = self._found.get(_key(environment), [])
        return [outcome for limit, outcome in reversed(found) if outcome.complete or limit == most_states]

    def keep(self, environment: Environment, most_states: int | None, outcome: Outcome) -> None:
        """Append a search; a complete one counts for every limit."""
        key = _key(environment)
        told = {"environment": key, "limit": most_states, "outcome": to_json(outcome)}
        with self._lock:
            self._remember(key, most_states, outcome)
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a+b") as file:
                torn = file.seek(0, 2) and (file.seek(-1, 2), file.read(1))[1] != b"\n"
                file.write((b"\n" if torn else b"") + json.dumps(told).encode() + b"\n")

    def _read(self, line: str) -> None:
        try:
            told: dict[str, Any] = json.loads(line)
            self._remember(told["environment"], told["limit"], from_json(told["outcome"]))
        except (ValueError, TypeError, KeyError):
            return  # cut off in the middle; the search is done again

    def _remember(self, key: str, limit: int | None, outcome: Outcome) -> None:
        self._found.setdefault(key, []).append((limit, outcome))


def _key(environment: Environment) -> str:
    return json.dumps([environment.profile, environment.name, asdict(environment.instance)])
