"""The width of a packed state: the bits of each field, and the steps that are tried on each state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.explicit.code_generation.packing import WORD_BITS, pack_machine

if TYPE_CHECKING:
    from spec.language import Machine


@dataclass(frozen=True, slots=True)
class FieldWidth:
    """One field: its values, its elements, its bits in all."""

    name: str
    low: int
    high: int
    elements: int
    bits: int


@dataclass(frozen=True, slots=True)
class StateWidth:
    """The width of a machine's states in one instance.

    Attributes
    ----------
    fields : tuple of FieldWidth
        The widest first.
    words : int
        64-bit words a state.
    steps : int
        Actions with their parameters chosen, each tried on every state.
    """

    fields: tuple[FieldWidth, ...]
    words: int
    steps: int

    @property
    def bits(self) -> int:
        """Bits of all fields."""
        return sum(field.bits for field in self.fields)

    @property
    def unused(self) -> int:
        """Bits of the words that no field takes."""
        return self.words * WORD_BITS - self.bits

    def to_json(self) -> dict[str, Any]:
        """The width as plain data."""
        return {
            "bits": self.bits,
            "words": self.words,
            "unused_bits": self.unused,
            "steps": self.steps,
            "fields": {
                field.name: {"low": field.low, "high": field.high, "elements": field.elements, "bits": field.bits}
                for field in self.fields
            },
        }


def state_width(machine: Machine, constants: object) -> StateWidth:
    """Measure the packed state of a machine in an instance; nothing is compiled."""
    packing = pack_machine(machine, constants)
    fields = [
        FieldWidth(
            ".".join(path),
            places[0].low,
            places[0].high,
            sum(place.length for place in places),
            sum(place.length * place.width for place in places),
        )
        for path, places in packing.places.items()
        if places
    ]
    widest_first = sorted(fields, key=lambda field: (-field.bits, field.name))
    return StateWidth(tuple(widest_first), packing.words, len(machine.steps(constants)))
