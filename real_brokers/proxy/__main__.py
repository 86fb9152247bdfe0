"""``make behind-proxy``: looks for defects with a real client, a real proxy 5.5.0 and the real broker behind it.

Scenarios that want nothing else than gRPC ports are played before our broker and its proxies, too (``--ours``: there
alone, which wants no Maven). What was seen is kept in ``seen.toml``, and written from there to
``docs/generated/behind-a-proxy.md``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from halfcheck.errors import ExitCode
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.proxy import in_cluster_mode, in_local_mode, page
from real_brokers.proxy.real_proxy import VERSION
from real_brokers.proxy.seen import SEEN, SeenBehindProxy
from real_brokers.proxy.stages import cluster_stage, local_stage, our_cluster_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from real_brokers.proxy.seen import Facts


@dataclass(frozen=True, slots=True)
class ProxyScenario:
    """A scenario, and the defects that it is to show; the first line of its docstring is the story."""

    play: Callable[[Any], Facts]
    """Takes the :class:`real_brokers.proxy.stages.ProxyStage` of its mode."""
    defects: tuple[str, ...]
    mode: str = "local"
    is_for_ours: bool = False
    """Whether it is played before our proxies, too."""

    @property
    def name(self) -> str:
        """That of its function."""
        return self.play.__name__


SCENARIOS: Final = {
    one.name: one
    for one in (
        ProxyScenario(in_local_mode.commit_behind_a_check, ("B60",)),
        ProxyScenario(in_local_mode.another_service_answers, ("B59",)),
        ProxyScenario(in_local_mode.refused_behind_ok, ("A48", "B41")),
        ProxyScenario(in_local_mode.flush_takes_too_long, ("A37",)),
        ProxyScenario(in_local_mode.producer_of_two_topics_ends, ()),
        ProxyScenario(in_local_mode.commit_when_the_entry_is_old, ("A49",)),
        ProxyScenario(in_cluster_mode.restarted_proxy, ("A49",), "cluster", is_for_ours=True),
        ProxyScenario(in_cluster_mode.commit_through_the_other, ("A49",), "cluster", is_for_ours=True),
        ProxyScenario(in_cluster_mode.two_instances_at_two_proxies, ("B60",), "cluster", is_for_ours=True),
        ProxyScenario(in_cluster_mode.remoting_client_commits, ("A47", "A48"), "cluster"),
        ProxyScenario(in_cluster_mode.first_send_before_a_heartbeat, ("A46",), "cluster"),
        ProxyScenario(in_cluster_mode.broker_dies_behind_ok, ("A48",), "cluster", is_for_ours=True),
    )
}
"""By name, in the order in which they are played on the stage of their mode."""

_STAGES: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "local": local_stage,
    "cluster": cluster_stage,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is named, or all, and write the page; the exit code is 12 if something was not seen."""
    parser = OneLineParser(prog="python -m real_brokers.proxy", description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)}; all if none")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    parser.add_argument("--ours", action="store_true", help="only before our broker and its proxies")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.scenarios if name not in SCENARIOS]
    if unknown:
        parser.error(f"no scenario {unknown[0]!r}; there are {', '.join(SCENARIOS)}")
    names = [] if options.page else options.scenarios or list(SCENARIOS)
    chosen = [one for name, one in SCENARIOS.items() if name in names]

    def work() -> int:
        if not options.ours:
            _play(chosen)
        _play_before_ours([one for one in chosen if one.is_for_ours])
        known = SEEN.read()
        page.write_page(known)
        is_seen = all(known[each.name].seen for each in chosen)
        is_seen &= all(known[each.name].seen_before_ours for each in chosen if each.is_for_ours)
        return ExitCode.OK if is_seen else ExitCode.SAFETY_VIOLATED

    return exit_code_after(work)


def _play(chosen: Sequence[ProxyScenario]) -> None:
    """Play scenarios before real proxies, and keep what was seen."""
    for mode, stage_of in _STAGES.items():
        if not (of_mode := [one for one in chosen if one.mode == mode]):
            continue
        with stage_of() as stage:
            for one in of_mode:
                is_seen, facts = one.play(stage)
                story = (one.play.__doc__ or "").partition("\n")[0]
                where, before = f"{VERSION}, {mode} mode", SEEN.read().get(one.name)
                ours = (before.seen_before_ours, before.ours) if before is not None else ()
                _keep(one, SeenBehindProxy(one.defects, where, story, is_seen, tuple(facts.items()), *ours))
                _say(f"{'seen' if is_seen else 'NOT SEEN'}: {one.name}", facts)


def _play_before_ours(chosen: Sequence[ProxyScenario]) -> None:
    """Play scenarios before our proxies, and keep what was seen beside what was before real ones."""
    if not chosen:
        return
    with our_cluster_stage() as stage:
        for one in chosen:
            is_seen, facts = one.play(stage)
            _keep(one, replace(SEEN.read()[one.name], seen_before_ours=is_seen, ours=tuple(facts.items())))
            _say(f"{'seen' if is_seen else 'NOT SEEN'} before ours: {one.name}", facts)


def _keep(one: ProxyScenario, seen: SeenBehindProxy) -> None:
    known = SEEN.read() | {one.name: seen}
    SEEN.write({name: known[name] for name in SCENARIOS if name in known})


def _say(line: str, facts: Mapping[str, str]) -> None:
    print(line, *(f"  {fact}: {value}" for fact, value in facts.items()), sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
