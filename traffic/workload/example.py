"""The example of a workload that the command line prints, and behind it the source of each default."""

from __future__ import annotations

from importlib import resources

from traffic.workload.defaults import all_defaults


def example_text() -> str:
    """The example as TOML, and the defaults as comments."""
    text = resources.files("traffic.workload").joinpath("example.toml").read_text(encoding="utf-8")
    lines = ["", "# Defaults and what no key changes, each with its source; all other figures are yours to give."]
    lines += [f"# {section}.{key} = {found.value!r}: {found.source}" for section, key, found in all_defaults()]
    return text + "\n".join(lines) + "\n"
