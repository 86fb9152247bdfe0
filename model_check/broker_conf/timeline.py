"""Instants in milliseconds under difference constraints: the earliest that satisfy all of them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Timeline:
    """Instants numbered from 0, which is the start; each constraint says how much one must be later than another.

    `instants` is always the earliest solution: each instant is as early as the constraints allow, all at once (they are
    longest paths from the start).
    """

    instants: list[int] = field(default_factory=lambda: [0])
    _later: list[list[tuple[int, int]]] = field(default_factory=lambda: [[]])
    _added: list[int] = field(default_factory=list)

    def after(self, earlier: int) -> int:
        """A new instant, at least one millisecond after another."""
        self.instants.append(self.instants[earlier] + 1)
        self._later.append([])
        self._later[earlier].append((len(self.instants) - 1, 1))
        self._added.append(earlier)
        return len(self.instants) - 1

    def require(self, later: int, earlier: int, by: int) -> bool:
        """Demand `later - earlier >= by`. False, and nothing changes, when no schedule can meet it."""
        before = list(self.instants)
        self._later[earlier].append((later, by))
        self._added.append(earlier)
        waiting = [earlier]
        while waiting:
            one = waiting.pop()
            for other, least in self._later[one]:
                if self.instants[other] < self.instants[one] + least:
                    if other in (0, earlier):
                        self.instants = before
                        self._later[self._added.pop()].pop()
                        return False
                    self.instants[other] = self.instants[one] + least
                    waiting.append(other)
        return True

    def mark(self) -> tuple[int, list[int]]:
        """A place to go back to."""
        return len(self._added), list(self.instants)

    def back(self, mark: tuple[int, list[int]]) -> None:
        """Drop every constraint and instant since the mark."""
        length, self.instants = mark[0], list(mark[1])
        while len(self._added) > length:
            self._later[self._added.pop()].pop()
        del self._later[len(self.instants) :]
