"""The memory of a watch: a SQLite file, in which one look is one transaction, so that it is whole at any time.

Of an open transaction it has the records as the log has them. Of a settled one it has where they stand: its record or
op message may still come, and then they are read again. The oldest settled ones are forgotten beyond a number.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from array import array
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

from files.content import parse_json
from files.errors import BadContentError, UnwritableFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import TracebackType

USUAL_REMEMBERED: Final = 1_000_000
"""So many settled transactions take about 100 MB."""

_FORMAT: Final = 1
_TABLES: Final = """
    PRAGMA auto_vacuum = FULL;
    CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE record (at INTEGER PRIMARY KEY, raw BLOB NOT NULL);
    CREATE TABLE settled (number INTEGER PRIMARY KEY, hash INTEGER NOT NULL, state TEXT NOT NULL, places BLOB NOT NULL);
    CREATE INDEX settled_by_hash ON settled (hash);
    CREATE TABLE half (place INTEGER PRIMARY KEY, settled INTEGER NOT NULL);
    CREATE INDEX half_by_settled ON half (settled);
    CREATE TABLE reported (hash INTEGER PRIMARY KEY, what INTEGER NOT NULL);
"""
_QUEUE_BITS: Final = 48
"""A place of the half topic is its queue id above the queue offset."""


def transaction_hash(unique_key: str, group: str) -> int:
    """A number of 64 bits for a transaction; others may have it."""
    digest = hashlib.blake2b(f"{group}\0{unique_key}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def half_place(queue_id: Any, queue_offset: Any) -> Any:
    """A number for a place of the half topic, or an array of them for arrays of both."""
    return queue_id << _QUEUE_BITS | queue_offset


class WatchMemory:
    """Opens the file of a watch, or makes it.

    Parameters
    ----------
    source
        Whose it is: another one's is not taken.

    Raises
    ------
    BadContentError
        It is no file of a watch, or that of another source.
    UnwritableFileError
        It can't be made.
    """

    def __init__(self, path: Path, source: str, remembered: int = USUAL_REMEMBERED) -> None:
        self._path = path
        self._remembered = remembered
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, isolation_level=None, timeout=0)
            self._base.execute("PRAGMA locking_mode = EXCLUSIVE")
            if not self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._base.executescript(_TABLES)
                self.set("format", _FORMAT)
                self.set("source", source)
            known = self.get("format"), self.get("source")
        except (OSError, sqlite3.OperationalError) as error:
            why = f"{error}; is another watch running? else give another --state"
            raise UnwritableFileError(path, why) from None
        except sqlite3.DatabaseError as error:
            message = f"{path} is no file of a watch ({error}): give another --state, or remove it"
            raise BadContentError(message) from None
        if known != (_FORMAT, source):
            message = f"{path} is the file of a watch of {known[1]}, format {known[0]}: give another --state"
            raise BadContentError(message)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()

    @contextmanager
    def look(self) -> Iterator[None]:
        """All changes of one look; none of them counts where the block fails."""
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            raise UnwritableFileError(self._path, f"{error}; make room, or give another --state") from None
        finally:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")

    def get(self, name: str, otherwise: Any = None) -> Any:
        """A fact by its name."""
        row = self._base.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return otherwise if row is None else parse_json(row[0])

    def set(self, name: str, value: object) -> None:
        """Set a fact to JSON values."""
        self._base.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, json.dumps(value)))

    def forget_all(self) -> None:
        """Begin anew, but for what was reported."""
        for statement in ("DELETE FROM record", "DELETE FROM settled", "DELETE FROM half"):
            self._base.execute(statement)

    def put(self, at: int, raw: bytes) -> None:
        """Keep a record."""
        self._base.execute("INSERT OR REPLACE INTO record VALUES (?, ?)", (at, raw))

    def records(self) -> Iterator[tuple[int, bytes]]:
        """All that are kept, in the order of the log."""
        yield from self._base.execute("SELECT at, raw FROM record ORDER BY at")

    def last_record(self) -> tuple[int, bytes] | None:
        """The one that stands last."""
        found: tuple[int, bytes] | None = self._base.execute(
            "SELECT at, raw FROM record ORDER BY at DESC LIMIT 1"
        ).fetchone()
        return found

    def keep_only(self, places: Iterable[int]) -> None:
        """Let go of all records but those at some places of the log."""
        self._ask_for(places)
        self._base.execute("DELETE FROM record WHERE at NOT IN (SELECT value FROM asked)")

    def settle(self, settled: Iterable[tuple[int, str, list[int], list[int]]]) -> None:
        """Remember transactions: hash and state of each, where its records stand in the log, its places as a half."""
        (number,) = self._base.execute("SELECT coalesce(max(number), 0) FROM settled").fetchone()
        for key, state, places, halves in settled:
            number += 1
            packed = array("q", places).tobytes()
            self._base.execute("INSERT INTO settled VALUES (?, ?, ?, ?)", (number, key, state, packed))
            self._base.executemany("INSERT OR REPLACE INTO half VALUES (?, ?)", ((half, number) for half in halves))
        last = number - self._remembered
        if last > 0 and self._base.execute("DELETE FROM settled WHERE number <= ?", (last,)).rowcount:
            self._base.execute("DELETE FROM half WHERE settled <= ?", (last,))
            self.set("forgets", True)

    @property
    def settled(self) -> int:
        """How many transactions are remembered as settled."""
        return int(self._base.execute("SELECT count(*) FROM settled").fetchone()[0])

    def come_back(self, keys: Iterable[int], halves: Iterable[int]) -> tuple[list[str], list[int]]:
        """Take out settled transactions, by their hashes or places as halves; gives their states, and their records."""
        self._ask_for(keys)
        numbers = {number for (number,) in self._base.execute("SELECT number FROM settled JOIN asked ON hash = value")}
        self._ask_for(halves)
        numbers |= {number for (number,) in self._base.execute("SELECT settled FROM half JOIN asked ON place = value")}
        places: set[int] = set()
        states: list[str] = []
        for number in numbers:
            (state, packed) = self._base.execute(
                "SELECT state, places FROM settled WHERE number = ?", (number,)
            ).fetchone()
            states.append(state)
            places.update(array("q", packed))
            self._base.execute("DELETE FROM settled WHERE number = ?", (number,))
            self._base.execute("DELETE FROM half WHERE settled = ?", (number,))
        return states, sorted(places)

    def reported(self, key: int) -> int:
        """What was reported of a transaction, as bits."""
        row = self._base.execute("SELECT what FROM reported WHERE hash = ?", (key,)).fetchone()
        return 0 if row is None else int(row[0])

    def note_reported(self, key: int, what: int) -> None:
        """Note that it was reported."""
        self._base.execute("INSERT OR REPLACE INTO reported VALUES (?, ?)", (key, what))

    def _ask_for(self, values: Iterable[int]) -> None:
        """Put values into the table with which the others are joined."""
        self._base.execute("CREATE TEMP TABLE IF NOT EXISTS asked (value INTEGER PRIMARY KEY)")
        self._base.execute("DELETE FROM asked")
        self._base.executemany("INSERT OR IGNORE INTO asked VALUES (?)", ((value,) for value in values))
