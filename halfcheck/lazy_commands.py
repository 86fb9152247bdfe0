"""A group of commands whose modules are imported only when they are called.

The engines behind the commands load Numba, PySpark and pandas, which takes seconds; ``halfcheck --help`` must not. The
overview needs one line a command, and that is read from the module's source without running it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import re
import typing
from dataclasses import MISSING, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup

from files.reading import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typer.main import Typer

RENAMED: Final = {"--reading": "--engine"}
"""Options that had another name before 0.2.0."""

PLACES: Final = {"DIR", "FILE", "ADDRESS"}
"""What an option takes, as its help shows it, where an empty text would be another place than anybody meant."""

FUNCTION = "command"
"""The name of the function that a command's module exposes."""


class OneCommand(TyperCommand):
    """A command whose flags take no value in its help, and whose refusals name it.

    Typer shows ``<bool>`` behind a flag, and what its parser refuses does not know of which command it was an option.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, flags without a type."""
        return without_types_of_flags(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, and tell a refusal whose it is."""
        self._refuse_renamed_options(ctx, args)
        self._refuse_swallowed_options(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            refusal: Any = error
            if getattr(refusal, "ctx", ctx) is None:
                refusal.ctx = ctx
            raise

    def _refuse_renamed_options(self, ctx: Any, args: list[str]) -> None:
        options = {name for option in self.get_params(ctx) for name in option.opts}
        for word in args:
            old = word.partition("=")[0]
            if RENAMED.get(old) in options:
                message = f"{old} is called {RENAMED[old]} since 0.2.0"
                raise typer.BadParameter(message, ctx=ctx)

    def _refuse_swallowed_options(self, ctx: Any, args: list[str]) -> None:
        """Refuse another option as a value, and an empty text as a place, as a shell makes it of what is not set.

        ``--broker-conf --version 5.3.3`` leaves out the file; ``--store ""`` would be the working directory.
        """
        args = args[: args.index("--")] if "--" in args else args
        options = {name: option for option in self.get_params(ctx) for name in option.opts if name.startswith("--")}
        empty = [(word.removesuffix("="), "") for word in args if word.endswith("=")]
        for name, value in (*pairwise(args), *empty):
            if name not in options or options[name].is_flag:
                continue
            if value in options or (value == "" and options[name].metavar in PLACES):
                message = f"Option {name!r} requires an argument, and {value or 'an empty text'} is none"
                raise typer.BadParameter(message, ctx=ctx)


class LazyCommands(TyperGroup):
    """A Typer group over a table of command names and the modules that hold them.

    A subclass sets ``modules``, ``within`` for commands of two words that the overview leaves out, and ``groups`` of
    names under a title of the overview. Each module has a function ``command`` with Typer's annotations; the first line
    of its docstring is the line of the overview, and its
    ``Examples`` section is shown below the options.
    """

    modules: ClassVar[Mapping[str, str]] = {}
    within: ClassVar[Mapping[str, str]] = {}
    groups: ClassVar[Mapping[str, Sequence[str]]] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        panels = {name: group for group, names in self.groups.items() for name in names}
        for name in self.modules:
            self.add_command(TyperCommand(name, rich_help_panel=panels.get(name)), name)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, or its entry of the overview, whose line is read now: a command that is called needs none."""
        command = super().get_command(ctx, cmd_name)
        if command is not None and command.help is None:
            command.help = summary_of(self.modules[cmd_name])
        return command

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, flags without a type."""
        return without_types_of_flags(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Replace the overview's entry of the command that is called by the command itself."""
        name = " ".join(args[:2])
        if name in self.within:
            return name, load_command(name, self.within[name]), args[2:]
        name = args[0]
        if name in self.modules:
            self.add_command(load_command(name, self.modules[name]), name)
        return super().resolve_command(ctx, args)


def without_types_of_flags(parameters: list[Any]) -> list[Any]:
    """The same parameters; what takes no value shows none in the help, and a place on any file system is a path."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
        elif parameter.bare_type() == "Any":
            parameter.display_type = lambda _context: "<path>"
    return parameters


def summary_of(module: str) -> str:
    """The first line of the docstring of a module's ``command``, read without an import; raises `LookupError`."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        message = f"the command module {module} does not exist"
        raise LookupError(message)
    for node in ast.parse(read_text(Path(spec.origin))).body:
        if isinstance(node, ast.FunctionDef) and node.name == FUNCTION:
            docstring = ast.get_docstring(node)
            if docstring:
                return docstring.splitlines()[0]
    message = f"{module} has no function {FUNCTION!r} with a docstring"
    raise LookupError(message)


def load_command(name: str, module: str) -> Any:
    """Import a command's module and make a Typer command of its function."""
    function = with_options_of_its_record(getattr(importlib.import_module(module), FUNCTION))
    description, examples = split_examples(inspect.getdoc(function) or "")
    app: Typer = typer.Typer(add_completion=False, rich_markup_mode="rich")
    app.command(name, cls=OneCommand, help=flowing(description), epilog=examples)(function)
    return typer.main.get_command(app)


def with_options_of_its_record(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes nothing but a dataclass, as Typer reads one: with a keyword for each field."""
    hints = typing.get_type_hints(function)
    records = [hints[name] for name in inspect.signature(function).parameters]
    if len(records) != 1 or not is_dataclass(records[0]):
        return function
    (record,) = records
    annotations = typing.get_type_hints(record, include_extras=True)

    @functools.wraps(function)
    def called(**options: object) -> object:
        return function(record(**options))

    called.__annotations__ = annotations
    vars(called)["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=annotations[field.name],
            )
            for field in fields(record)
        ]
    )
    return called


def split_examples(docstring: str) -> tuple[str, str | None]:
    r"""Split a NumPy docstring into its description and its sections, such as ``Examples``, if it has any.

    The lines of a section stay lines: an example that is wrapped like prose can't be copied.

    Examples
    --------
    >>> split_examples("Check.\n\nExamples\n--------\nhalfcheck check\nhalfcheck check --json")
    ('Check.', 'Examples:\n\n  halfcheck check\n\n  halfcheck check --json')
    """
    description, *sections = re.split(r"\n(\w+)\n-+\n", docstring)
    if not sections:
        return docstring, None
    lines: list[str] = []
    for heading, section in zip(sections[::2], sections[1::2], strict=True):
        lines += [f"{heading}:", *(f"  {line.strip()}" for line in section.splitlines() if line.strip())]
    return description.strip(), "\n\n".join(lines)


def flowing(description: str) -> str:
    r"""Make one line of each paragraph, for the terminal to wrap, which is seldom as wide as the source.

    Examples
    --------
    >>> flowing("Check.\n\nA property holds, or is\nviolated.\n\nThe exit\ncode is 12.")
    'Check.\n\nA property holds, or is violated.\n\nThe exit code is 12.'
    """
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in description.split("\n\n"))
