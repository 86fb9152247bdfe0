"""The templates of the pages: what is put in is escaped, and a name that nobody gives is an error."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def templates() -> Environment:
    """All of them; a page adds filters of its own."""
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
