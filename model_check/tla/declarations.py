"""Variables, what they may be, and what they are at first."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from model_check.front_end.open_terms import Constant, Named, OpenNumber
from model_check.tla.layout import Block, hang, indented, junction, separated
from model_check.tla.values import Range
from model_check.tla.vocabulary import Vocabulary, enumerations, records
from spec.language import NONE, Kind, Machine
from spec.language.fields import Bound, Field, RecordDeclaration

if TYPE_CHECKING:
    from model_check.tla.printing import Printer


class Declarations:
    """Writes what follows from the declaration of the state."""

    def __init__(self, machine: Machine, names: Vocabulary, printer: Printer) -> None:
        self.members = {  # those of the state but the clock, which stands still
            name: member
            for name, member in machine.state.members.items()
            if not (isinstance(member, Field) and member.kind is Kind.CLOCK)
        }
        self._machine = machine
        self._names = names
        self._printer = printer

    def variable_list(self) -> Block:
        """The declaration of the variables, each with the first sentence on its record."""
        lines = []
        for number, (name, member) in enumerate(self.members.items()):
            comma = "," if number < len(self.members) - 1 else ""
            doc = first_line(member.kind) if isinstance(member, RecordDeclaration) else ""
            lines.append(f"    {name + comma:<20} \\* {doc}" if doc else f"    {name}{comma}")
        return ["VARIABLES", *lines, "", f"vars == <<{', '.join(self.members)}>>"]

    def kinds(self) -> Block:
        """The sets of the enumerations and of the records."""
        lines: Block = []
        for kind in enumerations(self._machine):
            names = ", ".join(f'"{choice.name}"' for choice in kind)
            lines += [f"\\* {first_line(kind)}", f"{self._names.kind(kind)} == {{{names}}}", ""]
        for record in records(self._machine):
            fields_of = [[f"{name} : {self._field_set(field)}"] for name, field in record.fields.items()]
            lines += [f"\\* {first_line(record)}", f"{self._names.kind(record)} =="]
            lines += [*indented(hang("[", separated(fields_of), "]")), ""]
        return lines

    def type_invariant(self) -> Block:
        """Each variable lies in its declared range."""
        items = [[f"{name} \\in {self.member_set(member)}"] for name, member in self.members.items()]
        return ["\\* Every field lies in its declared range.", "TypeOK ==", *indented(junction("/\\", items))]

    def initial(self) -> Block:
        """Each field holds its lowest value."""
        items = [hang(f"{name} = ", self.first_of(member)) for name, member in self.members.items()]
        return ["\\* Nothing, empty, absent, long ago.", "Init ==", *indented(junction("/\\", items))]

    # --- what a field may be ------------------------------------------------------------------------------------------

    def member_set(self, member: Field | RecordDeclaration) -> str:
        """The set of the values of a member of the state."""
        if isinstance(member, Field):
            return self._field_set(member)
        own = self._names.kind(member.kind)
        return own if member.length is None else f"[{self._places(member.length)} -> {own}]"

    def _field_set(self, field: Field) -> str:
        own = self._value_set(field)
        return own if field.length is None else f"[{self._places(field.length)} -> {own}]"

    def _value_set(self, field: Field) -> str:
        if field.choices is not None:
            return self._names.kind(field.choices)
        if field.kind is Kind.FLAG:
            return "BOOLEAN"
        if field.kind is Kind.BITS:
            return f"SUBSET {self._places(str(field.high.constant))}"
        if field.kind is Kind.INSTANT:
            floor = self._printer.floor(str(field.high.constant), field.slack)
            if field.ahead is None:
                return f"{self._names.note('Instants')}({floor})"
            return f"{self._names.note('InstantsUpTo')}({floor}, {self._names.constant(field.ahead)})"
        if field.low == Bound(None, NONE):
            none = self._names.named(Named("NONE", NONE))
            numbers = self._numbers(Bound(None, 0), field.high)
            return f"{f'({numbers})' if '..' in numbers else numbers} \\cup {{{none}}}"
        return self._numbers(field.low, field.high)

    def _numbers(self, low: Bound, high: Bound) -> str:
        if low == Bound(None, 0) and high.constant is not None and high.offset == -1:
            return self._places(high.constant)
        return f"{self._end(low)}..{self._end(high)}"

    def _end(self, bound: Bound) -> str:
        if bound.constant is None:
            return str(bound.offset)
        own = self._names.constant(bound.constant)
        return own if bound.offset == 0 else f"{own} {'+' if bound.offset > 0 else '-'} {abs(bound.offset)}"

    def _places(self, length: str) -> str:
        return self._printer.range(Range(OpenNumber(0), Constant(length, is_truth=False)))

    # --- what it is at first ------------------------------------------------------------------------------------------

    def first_of(self, member: Field | RecordDeclaration) -> Block:
        """The initial value of a member of the state."""
        if isinstance(member, Field):
            return [self._first_of_field(member)]
        fields = [[f"{name} |-> {self._first_of_field(field)}"] for name, field in member.kind.fields.items()]
        record = hang("[", separated(fields), "]")
        if member.length is None:
            return record
        return hang(f"[{member.length[0]} \\in {self._places(member.length)} |-> ", record, "]")

    def _first_of_field(self, field: Field) -> str:
        own = self._first_value(field)
        return own if field.length is None else f"[{field.length[0]} \\in {self._places(field.length)} |-> {own}]"

    def _first_value(self, field: Field) -> str:
        if field.choices is not None:
            return f'"{field.choices(field.low.offset).name}"'
        if field.kind is Kind.FLAG:
            return "FALSE"
        if field.kind is Kind.BITS:
            return "{}"
        if field.kind is Kind.INSTANT:
            return f"{self._names.note('LongAgo')}({self._printer.floor(str(field.high.constant), field.slack)})"
        if field.low == Bound(None, NONE):
            return self._names.named(Named("NONE", NONE))
        return self._end(field.low)


def first_line(kind: type) -> str:
    """The first line of what a class says of itself; its name where it says nothing, whatever its base says."""
    return (inspect.cleandoc(vars(kind).get("__doc__") or "") or kind.__name__).splitlines()[0]
