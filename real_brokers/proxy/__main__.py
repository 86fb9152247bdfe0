"""``make behind-proxy``: looks for defects with a real client, a real proxy 5.5.0 and the real broker behind it.

What was seen is kept in ``seen.toml``, and written from there to ``docs/generated/behind-a-proxy.md``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from halfcheck.errors import ExitCode
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.proxy import in_cluster_mode, in_local_mode, page
from real_brokers.proxy.real_proxy import VERSION
from real_brokers.proxy.seen import SEEN, SeenBehindProxy
from real_brokers.proxy.stages import ProxyStage, cluster_stage, local_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from real_brokers.proxy.seen import Facts


@dataclass(frozen=True, slots=True)
class ProxyScenario:
    """A scenario, and the defects that it is to show; the first line of its docstring is the story."""

    play: Callable[[ProxyStage], Facts]
    defects: tuple[str, ...]
    mode: str = "local"

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
        ProxyScenario(in_cluster_mode.restarted_proxy, ("A49",), "cluster"),
        ProxyScenario(in_cluster_mode.commit_through_the_other, ("A49",), "cluster"),
        ProxyScenario(in_cluster_mode.two_instances_at_two_proxies, ("B60",), "cluster"),
        ProxyScenario(in_cluster_mode.remoting_client_commits, ("A47", "A48"), "cluster"),
        ProxyScenario(in_cluster_mode.first_send_before_a_heartbeat, ("A46",), "cluster"),
        ProxyScenario(in_cluster_mode.broker_dies_behind_ok, ("A48",), "cluster"),
    )
}
"""By name, in the order in which they are played on the stage of their mode."""

_STAGES: Final[dict[str, Callable[[], AbstractContextManager[ProxyStage]]]] = {
    "local": local_stage,
    "cluster": cluster_stage,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is named, or all, and write the page; the exit code is 12 if something was not seen."""
    parser = OneLineParser(prog="python -m real_brokers.proxy", description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)}; all if none")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.scenarios if name not in SCENARIOS]
    if unknown:
        parser.error(f"no scenario {unknown[0]!r}; there are {', '.join(SCENARIOS)}")
    return exit_code_after(lambda: _play([] if options.page else options.scenarios or list(SCENARIOS)))


def _play(names: Sequence[str]) -> int:
    known = SEEN.read()
    for mode, stage_of in _STAGES.items():
        chosen = [SCENARIOS[name] for name in names if SCENARIOS[name].mode == mode]
        if not chosen:
            continue
        with stage_of() as stage:
            for one in chosen:
                is_seen, facts = one.play(stage)
                story = (one.play.__doc__ or "").partition("\n")[0]
                where = f"{VERSION}, {mode} mode"
                known[one.name] = SeenBehindProxy(one.defects, where, story, is_seen, tuple(facts.items()))
                SEEN.write({name: known[name] for name in SCENARIOS if name in known})
                print(f"{'seen' if is_seen else 'NOT SEEN'}: {one.name}", flush=True)
                for fact, value in facts.items():
                    print(f"  {fact}: {value}", flush=True)
    page.write_page(known)
    return ExitCode.OK if all(known[name].seen for name in names) else ExitCode.SAFETY_VIOLATED


if __name__ == "__main__":
    sys.exit(main())
