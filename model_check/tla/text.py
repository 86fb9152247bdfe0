"""The sections of a module, and of its configuration."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from model_check.front_end.open_functions import OpenReader
from model_check.tla.constants import config_value, given_constants
from model_check.tla.declarations import Declarations
from model_check.tla.definitions import Definer, Definition
from model_check.tla.layout import Block, comment, filled, indented, junction
from model_check.tla.printing import Printer
from model_check.tla.uses import Uses
from model_check.tla.vocabulary import NOTES, Vocabulary, camel_case, free_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from model_check.front_end.open_terms import Sort
    from spec.language import Action, Machine, Property
    from spec.language.rules import Choices

EVERY, SOME = r"\A", r"\E"
RULE = "-" * 100
MARK = "Written by `halfcheck export`"
"""With this begins the first line of every file that an export writes."""


class Text:
    """Writes a machine whose variables are the members of its state."""

    definer: type[Definer] = Definer
    declarations: type[Declarations] = Declarations
    reserved: tuple[str, ...] = ()
    why_no_deadlock = "an instance is finite"

    def __init__(self, machine: Machine, constants: object) -> None:
        self._machine = machine
        self._constants = constants
        self._reader = OpenReader(machine, constants)
        self._declared: list[Action | Property] = [*machine.actions, *machine.clauses, *machine.witnesses]
        for function in self.functions():
            self._reader.function(function)
        self._names = Vocabulary(machine, constants, self._reader.functions(), self.reserved)
        self._printer = Printer(self._names)
        self._declarations = self.declarations(machine, self._names, self._printer)
        self._definer = self.definer(
            self._reader,
            Uses(self._reader),
            self._names,
            self._printer,
            self._names.names.all,
            frozenset(action.function for action in machine.actions),
        )
        self._definitions: dict[Callable[..., Any], Definition] = {}

    def functions(self) -> list[Callable[..., Any]]:
        """Those that the machine declares."""
        return [each.function for each in self._declared]

    def finished(self, clauses: Sequence[Property], about: str) -> tuple[str, str, str]:
        """The name, the module and the configuration."""
        name = camel_case(self._machine.name)
        definitions = self.definitions()
        behaviour = self._behaviour()
        claims, checked, witnesses = self.claims(clauses)
        state = self.state()
        lines = [*self._head(name), *state, *definitions, *behaviour, *claims]
        width = max(len(RULE), len(name) + 18)
        title = f" MODULE {name} ".center(width, "-")
        text = "\n".join([title, *lines, "=" * width]) + "\n"
        return name, text, self._config(name, about, checked, witnesses)

    # --- definitions --------------------------------------------------------------------------------------------------

    def definitions(self) -> Block:
        """All definitions."""
        return self.definitions_of(self.functions())

    def definitions_of(self, functions: Iterable[Callable[..., Any]]) -> Block:
        """Those of functions, and of what they use; each is written once."""
        earlier = set(self._definitions)
        for function in functions:
            self._define(function)
        return self._sections(earlier)

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

    def _sections(self, earlier: Collection[Callable[..., Any]]) -> Block:
        """All definitions but some, each behind those that it uses, by the modules of the source."""
        ordered: dict[Callable[..., Any], None] = {}

        def place(function: Callable[..., Any]) -> None:
            if function not in ordered and function not in earlier:
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
        steps = [[self.over(SOME, action.parameters, action.function)] for action in self._machine.actions]
        spec = "Spec == Init /\\ [][Next]_vars"
        return [RULE, "Next ==", *indented(junction("\\/", steps)), "", spec, ""]

    def over(
        self,
        quantifier: str,
        parameters: Mapping[str, Choices],
        function: Callable[..., Any],
        negated: str = "",
        state: str = "",
    ) -> str:
        """A definition with every choice of its parameters, asked of a state where it takes one."""
        use = negated + self.use(function, self._definitions[function].parameters, state)
        return self.quantified(quantifier, parameters, function, use)

    def use(self, function: Callable[..., Any], arguments: Iterable[str], state: str = "") -> str:
        """A definition with arguments, asked of a state where it takes one."""
        name = self._definitions[function].name
        given = [*[state] * self._definer.takes_state(function), *arguments]
        return f"{name}({', '.join(given)})" if given else name

    def quantified(
        self, quantifier: str, parameters: Mapping[str, Choices], function: Callable[..., Any], body: str
    ) -> str:
        """A body quantified over the parameters of a definition, by their names there."""
        own = self._definitions[function].parameters
        sorts = [parameter.sort for parameter in self._reader.function(function).parameters]
        domains = [
            f"{name} \\in {self._domain(choices, sort, own)}"
            for name, sort, choices in zip(own, sorts, parameters.values(), strict=True)
        ]
        return f"{quantifier} {', '.join(domains)} : {body}" if domains else body

    def _domain(self, choices: Choices, sort: Sort, parameters: tuple[str, ...]) -> str:
        """The set of a parameter's values: numbers, or the truth values or members that they stand for."""
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

    def claims(self, clauses: Iterable[Property]) -> tuple[Block, list[str], list[str]]:
        """The claims; the names of those to be checked, and those of the witnesses."""
        lines = [RULE, "\\* Properties, a clause each.", ""]
        names: dict[Property, str] = {}
        for clause in self._machine.clauses:
            names[clause] = self._names.names.give(f"{clause.identifier}_{clause.clause}")
            lines += self.claim(names[clause], clause, "")
        lines += ["\\* Witnesses: TLC shows one as a violation of the claim that there is none.", ""]
        for witness in self._machine.witnesses:
            names[witness] = self._names.names.give(f"{witness.identifier}_never_{witness.name}")
            lines += self.claim(names[witness], witness, "~")
        checked = [names[clause] for clause in clauses]
        return lines[:-1], checked, [names[witness] for witness in self._machine.witnesses]

    def claim(self, name: str, claim: Property, negated: str) -> Block:
        """The definition that TLC is to check of a clause or a witness."""
        return [f"{name} == {self.over(EVERY, claim.parameters, claim.function, negated)}", ""]

    # --- head and state -----------------------------------------------------------------------------------------------

    def state(self) -> Block:
        """The section of the state."""
        own = self._declarations
        return [RULE, *own.kinds(), *own.variable_list(), "", *own.type_invariant(), "", *own.initial(), ""]

    def _head(self, name: str) -> Block:
        """The head of the module, with all that the rest has turned out to use."""
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
        lines = [f"\\* {MARK}{f': {about}' if about else ''}."]
        lines += [f"\\* Deadlock is not asked for: {self.why_no_deadlock}."]
        lines += [f"\\* java -cp tla2tools.jar tlc2.TLC -deadlock -config {name}.cfg {name}.tla", "SPECIFICATION Spec"]
        used = self._names.constants_used
        values = {own: config_value(*used[own]) for own in self._constants_in_order()}
        if values:
            lines += ["CONSTANTS", *(f"    {own} {value}" for own, value in values.items())]
        lines += self.checks(checked)
        if witnesses:
            lines.append("\\* Witnesses: one that is not violated shows that its property speaks of nothing here.")
        lines += [f"\\* {self.check(own)}" for own in witnesses]
        return "\n".join(lines) + "\n"

    def checks(self, checked: list[str]) -> Block:
        """The checks of all clauses in a configuration."""
        return ["INVARIANTS", "    TypeOK", *(f"    {own}" for own in checked)]

    def check(self, name: str) -> str:
        """The check of one."""
        return f"INVARIANT {name}"
