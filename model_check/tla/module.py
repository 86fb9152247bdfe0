"""A machine as the text of a TLA+ module, and of the configuration of TLC for one instance of it."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.front_end.open_functions import OpenReader
from model_check.instances import refuse_forgetting
from model_check.tla.constants import config_value, given_constants
from model_check.tla.declarations import Declarations
from model_check.tla.definitions import Definer, Definition
from model_check.tla.layout import Block, comment, filled, indented, junction
from model_check.tla.printing import Printer
from model_check.tla.uses import Uses
from model_check.tla.vocabulary import NOTES, Vocabulary, camel_case, free_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from model_check.front_end.open_terms import Sort
    from spec.language import Action, Machine, Property
    from spec.language.rules import Choices

EVERY, SOME = r"\A", r"\E"
RULE = "-" * 100
MARK = "Written by `halfcheck export`"
"""With this begins the first line of every file that an export writes."""


@dataclass(frozen=True, slots=True)
class TlaModule:
    """A module and a configuration.

    Attributes
    ----------
    name : str
        Of the module, and of both files without their suffixes.
    module, config : str
        The texts.
    """

    name: str
    module: str
    config: str


def export(
    machine: Machine, constants: object, clauses: Sequence[Property] | None = None, about: str = ""
) -> TlaModule:
    """Translate a machine.

    Parameters
    ----------
    machine : Machine
    constants : object
        An instance. Its values stand in the configuration; the module is the same for all instances, profiles and
        environments.
    clauses : sequence of Property, optional
        What TLC shall check beside the declared ranges: all clauses when not given.
    about : str
        A line on the instance for the head of the configuration.

    Raises
    ------
    NotInTheLanguage
        When the source uses something that has no translation; names the file and the line.
    ModelCheckError
        When the instance forgets what is over.
    """
    refuse_forgetting(constants, "the exported module")
    return _Text(machine, constants).finished(machine.clauses if clauses is None else clauses, about)


class _Text:
    def __init__(self, machine: Machine, constants: object) -> None:
        self._machine = machine
        self._constants = constants
        self._reader = OpenReader(machine, constants)
        self._declared: list[Action | Property] = [*machine.actions, *machine.clauses, *machine.witnesses]
        for each in self._declared:
            self._reader.function(each.function)
        self._names = Vocabulary(machine, constants, self._reader.functions())
        self._printer = Printer(self._names)
        self._declarations = Declarations(machine, self._names, self._printer)
        self._definer = Definer(
            self._reader,
            Uses(self._reader),
            self._names,
            self._printer,
            self._names.names.all,
            frozenset(action.function for action in machine.actions),
        )
        self._definitions: dict[Callable[..., Any], Definition] = {}

    def finished(self, clauses: Sequence[Property], about: str) -> TlaModule:
        name = camel_case(self._machine.name)
        for each in self._declared:
            self._define(each.function)
        definitions = self._sections()
        behaviour = self._behaviour()
        invariants, checked, witnesses = self._invariants(clauses)
        state = self._state()
        lines = [*self._head(name), *state, *definitions, *behaviour, *invariants]
        width = max(len(RULE), len(name) + 18)
        title = f" MODULE {name} ".center(width, "-")
        text = "\n".join([title, *lines, "=" * width]) + "\n"
        return TlaModule(name, text, self._config(name, about, checked, witnesses))

    # --- definitions --------------------------------------------------------------------------------------------------

    def _define(self, function: Callable[..., Any]) -> None:
        if function in self._definitions:
            return
        self._names.needed = {}
        name = self._names.operator(function)
        self._names.needed = {}
        parameters, text = self._definer.define(function, name)
        needed = self._names.needed
        self._definitions[function] = Definition(name, parameters, text, needed)
        for used in needed:
            self._define(used)

    def _sections(self) -> Block:
        """All definitions, each behind those that it uses, by the modules of the source."""
        ordered: dict[Callable[..., Any], None] = {}

        def place(function: Callable[..., Any]) -> None:
            if function not in ordered:
                for used in self._definitions[function].uses:
                    place(used)
                ordered[function] = None

        for module in self._modules():
            own = [f for f in self._definitions if f.__module__ == module]
            for function in sorted(own, key=lambda f: f.__code__.co_firstlineno):
                place(function)
        lines: Block = []
        section = ""
        for function in ordered:
            if function.__module__ != section:
                section = function.__module__
                lines += [RULE, *comment(inspect.getdoc(sys.modules[section]) or section), ""]
            lines += [*self._definitions[function].text, ""]
        return lines

    def _modules(self) -> list[str]:
        """The modules of the source, each behind those that it uses."""
        uses: dict[str, dict[str, None]] = {}
        for function, definition in self._definitions.items():
            own = uses.setdefault(function.__module__, {})
            own.update(
                dict.fromkeys(used.__module__ for used in definition.uses if used.__module__ != function.__module__)
            )
        ordered: dict[str, None] = {}
        entered: set[str] = set()

        def place(module: str) -> None:
            if module not in entered:
                entered.add(module)
                for used in uses[module]:
                    place(used)
                ordered[module] = None

        for module in uses:
            place(module)
        return list(ordered)

    # --- behaviour and invariants -------------------------------------------------------------------------------------

    def _behaviour(self) -> Block:
        steps = [[self._over(SOME, action.parameters, action.function)] for action in self._machine.actions]
        spec = "Spec == Init /\\ [][Next]_vars"
        return [RULE, "Next ==", *indented(junction("\\/", steps)), "", spec, ""]

    def _over(
        self, quantifier: str, parameters: Mapping[str, Choices], function: Callable[..., Any], negated: str = ""
    ) -> str:
        definition = self._definitions[function]
        sorts = [parameter.sort for parameter in self._reader.function(function).parameters]
        domains = []
        for own, sort, choices in zip(definition.parameters, sorts, parameters.values(), strict=True):
            domains.append(f"{own} \\in {self._domain(choices, sort, definition.parameters)}")
        use = f"{definition.name}({', '.join(definition.parameters)})" if domains else definition.name
        return f"{quantifier} {', '.join(domains)} : {negated}{use}" if domains else f"{negated}{use}"

    def _domain(self, choices: Choices, sort: Sort, parameters: tuple[str, ...]) -> str:
        """What a parameter may be: numbers, or what they stand for where it is a truth value or an enumeration's."""
        if choices.listed:
            numbers = self._names.constant(choices.constant)
        elif choices.is_included:
            numbers = f"0..{self._names.constant(choices.constant)}"
        else:
            numbers = str(self._names.index_set(choices.constant))
        n = free_name("n", self._names.names.all, parameters)
        if sort == "truth":
            return f"{{{n} = 1 : {n} \\in {numbers}}}"
        if isinstance(sort, type):
            members = ", ".join(f'"{member.name}"' for member in sort)
            return f"{{<<{members}>>[{n} + 1] : {n} \\in {numbers}}}"
        return numbers

    def _invariants(self, clauses: Iterable[Property]) -> tuple[Block, list[str], list[str]]:
        lines = [RULE, "\\* Properties, a clause each.", ""]
        names: dict[Property, str] = {}
        for clause in self._machine.clauses:
            names[clause] = self._names.names.give(f"{clause.identifier}_{clause.clause}")
            lines += [f"{names[clause]} == {self._over(EVERY, clause.parameters, clause.function)}", ""]
        lines += ["\\* Witnesses: TLC shows one as a violation of the claim that there is none.", ""]
        for witness in self._machine.witnesses:
            names[witness] = self._names.names.give(f"{witness.identifier}_never_{witness.name}")
            lines += [f"{names[witness]} == {self._over(EVERY, witness.parameters, witness.function, '~')}", ""]
        checked = [names[clause] for clause in clauses]
        return lines[:-1], checked, [names[witness] for witness in self._machine.witnesses]

    # --- head and state -----------------------------------------------------------------------------------------------

    def _state(self) -> Block:
        own = self._declarations
        return [RULE, *own.kinds(), *own.variable_list(), "", *own.type_invariant(), "", *own.initial(), ""]

    def _head(self, name: str) -> Block:
        """What the rest of the module has turned out to use."""
        names = self._names
        switches = set(self._machine.switches)
        used = {own: source for own, (source, _) in names.constants_used.items()}
        order = self._constants_in_order()
        numbers = [own for own in order if used[own] not in switches]
        flags = [own for own in order if used[own] in switches]
        lines = [f"\\* {MARK}; the source is the specification in Python.", f"\\* Run it with {name}.cfg.", ""]
        lines += ["EXTENDS Integers, FiniteSets", ""]
        if numbers:
            lines += ["\\* Sizes and times (in ticks of the clock).", *filled(numbers, "CONSTANTS ", ""), ""]
        if flags:
            lines += ["\\* Switches: what a version does, and what may go wrong.", *filled(flags, "CONSTANTS ", ""), ""]
        lines += [f"{own} == {value}" for own, value in names.numbers.items()]
        lines += [f"{own} == 0..{size} - 1" for own, size in names.index_sets.items()]
        lines += [f"{own} == {given} \\cup {{-n : n \\in {negated}}}" for own, (given, negated) in names.listed.items()]
        if "Max" in names.notes:
            lines += [*NOTES["Max"]]
        lines += [f"{own} == {value}" for own, value in names.derived.items()]
        lines.append("")
        for note, text in NOTES.items():
            if note in names.notes and note != "Max":
                lines += [
                    line.replace("{horizon}", names.constant("horizon")) if "{horizon}" in line else line
                    for line in text
                ]
        return [*lines, ""]

    def _constants_in_order(self) -> list[str]:
        """Those that are used, in the order of their declaration."""
        used = self._names.constants_used
        order = list(given_constants(self._constants))
        return sorted(used, key=lambda own: (order.index(used[own][0]), own))

    def _config(self, name: str, about: str, checked: list[str], witnesses: list[str]) -> str:
        lines = [f"\\* {MARK}{f': {about}' if about else ''}.", "\\* Deadlock is not asked for: an instance is finite."]
        lines += [f"\\* java -cp tla2tools.jar tlc2.TLC -deadlock -config {name}.cfg {name}.tla", "SPECIFICATION Spec"]
        used = self._names.constants_used
        values = {own: config_value(*used[own]) for own in self._constants_in_order()}
        if values:
            lines += ["CONSTANTS", *(f"    {own} {value}" for own, value in values.items())]
        lines += ["INVARIANTS", "    TypeOK", *(f"    {own}" for own in checked)]
        lines += [
            "\\* Witnesses: one that is not violated shows that its property speaks of nothing here.",
            *(f"\\* INVARIANT {own}" for own in witnesses),
        ]
        return "\n".join(lines) + "\n"
