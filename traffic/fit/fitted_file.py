"""The file of a fitted workload: what the store shows with its standard errors, and what is left for its user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traffic.workload.defaults import default_of
from traffic.workload.reading import SECTIONS

if TYPE_CHECKING:
    from traffic.fit.fitted_workload import Fitted, FittedLogNormal, FittedWorkload

_OPTIONAL = "What follows may be left out, a section at a time: then it never happens. No store shows it."


def fitted_text(fitted: FittedWorkload, store: str) -> str:
    """The workload as TOML; what a store does not show is a comment that asks for it."""
    seen = fitted.seen
    written_by = seen.version or "a release that is not known"
    connections = max(len(seen.connections), len(seen.groups))
    lines = [
        f"# A workload fitted to {store}: {seen.transactions:,} transactions, written by {written_by}.",
        "# Behind each figure is its standard error. Lines that begin with #? are yours: the store does not show them.",
        "",
        "[transactions]",
        f"per_second = {fitted.per_second.value:.6g}{_error(fitted.per_second)}; on average, whatever the hour",
        f'arrivals = "{"poisson" if fitted.is_poisson else "constant"}"',
        _percentiles("body_bytes", fitted.body_bytes, "") + "; as stored: a client compresses what is larger than 4 KB",
        *_immunity(fitted),
        "",
        "[producers]",
        f"count = {connections}  # connections that halves came from; a process has one more at each reconnect",
        f"groups = {len(seen.groups)}",
        "",
        "[local]",
        _percentiles("time", fitted.local_ms, "ms")
        + "; from the half to the commit by its own END_TRANSACTION: both ways of the network are in it",
        f"rollback = {_share(fitted.rollback)}; op messages that name a half as it was sent, and no commit",
        f"unknown = {_share(fitted.unknown)}; ended by the answer to a check alone: it said UNKNOWN, or was lost",
        f"hangs = {_share(fitted.hangs)}; ended by nothing",
        "",
        "[checks]",
        _asked("checks", "after"),
        *_unknown_answers(fitted),
        '# while_running = "unknown" is the default; a store does not show it',
        _asked("checks", "never_run"),
        *_asked_sections(("network", "client")),
        "",
        f"# {_OPTIONAL}",
        *_asked_sections(tuple(name for name, section in SECTIONS.items() if not section.is_needed), "#"),
    ]
    return "\n".join(lines) + "\n"


def _error(figure: Fitted) -> str:
    return f"  # ± {figure.error:.2g}" if figure.error else "  # as counted"


def _share(figure: Fitted) -> str:
    return f"{figure.value:.6g}{_error(figure)}"


def _percentiles(key: str, of: FittedLogNormal, unit: str) -> str:
    p50, p99 = of.p50, of.p99
    values = (
        (f'"{p50.value:.6g}{unit}"', f'"{p99.value:.6g}{unit}"') if unit else (f"{p50.value:.6g}", f"{p99.value:.6g}")
    )
    return (
        f"{key} = {{ p50 = {values[0]}, p99 = {values[1]} }}  # ± {p50.error:.2g} and {p99.error:.2g}, of {of.count:,}"
    )


def _immunity(fitted: FittedWorkload) -> list[str]:
    immunities = fitted.seen.immunities
    if set(immunities) == {None}:
        return []
    ((most, number),) = immunities.most_common(1)
    if len(immunities) == 1 and most is not None and most > 0 and most % 1000 == 0:
        return [f'immunity = "{most // 1000}s"']
    shown = ", ".join(
        f"{'none' if each is None else f'{each} ms'} on {count:,}" for each, count in immunities.most_common(4)
    )
    return [f"#? immunity = …  # {shown}: a workload has one for all ({number:,} have the first)"]


def _unknown_answers(fitted: FittedWorkload) -> list[str]:
    if fitted.unknown_answers is None:
        return [_asked("checks", "unknown")]
    share = _share(fitted.unknown_answers)
    return [
        f"unknown = {share}; answers while a local transaction still ran, and checks that nobody answered, are in it"
    ]


def _has_default(section: str, key: str) -> bool:
    return default_of("client.remoting" if section == "client" else section, key) is not None


def _asked(section: str, key: str) -> str:
    return f"#? {key} = …  # {SECTIONS[section].keys[key].asks}"


def _asked_sections(names: tuple[str, ...], mark: str = "") -> list[str]:
    lines: list[str] = []
    for name in names:
        lines += ["", f"{mark + ' ' if mark else ''}[{name}]  # {SECTIONS[name].asks}"]
        keys = SECTIONS[name].keys
        lines += [_asked(name, key) for key, about in keys.items() if about.is_needed and not _has_default(name, key)]
    return lines
