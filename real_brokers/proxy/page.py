"""``docs/generated/behind-a-proxy.md``: what was seen behind a real proxy, scenario by scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from document.markdown import markdown
from document.parts import Heading, Paragraph, Part, prose, tabulated
from files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from real_brokers.proxy.seen import SeenBehindProxy

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "behind-a-proxy.md"

_HEAD: Final = """\
# Defects behind a real proxy

`make behind-proxy` starts RocketMQ's proxy 5.5.0 and leads real clients through each scenario; that writes this page,
too. In local mode the broker is in the proxy's process; in cluster mode two proxies stand before a broker 5.5.0. The
clients are `rocketmq-python-client` 5.1.2, and for remoting `rocketmq-client` 5.5.0. Offsets are those of the half
topic and of the commit log, as the broker's own port gives them.

A half is checked 3 s behind its birth, every 3 s, and 5 times at most, so that little time passes; where it is
discarded here, a broker with `transactionCheckMax=15` and rounds of 30 s discards it if its producer is not reached
for as long. In cluster mode a proxy tells brokers of its producers every 2 s (`transactionHeartbeatPeriodSecond`), and
not every 20.

Some scenarios were played before [our broker](../broker.md#grpc-clients) with `--proxies 2`, too, by the same clients
and with the same settings (`make behind-proxy ARGS=--ours`). Whom a broker asks first, and when a proxy asks the name
server anew, differs from run to run: with it, how many copies there are, and whether a check comes before the discard.
Where a real broker stands still, ours is told to leave unread what comes (`delay_end`).
"""


def write_page(findings: Mapping[str, SeenBehindProxy]) -> None:
    """Write the page; it appears whole or not at all."""
    write_whole(PAGE, markdown(list(_parts(findings))))


def _parts(findings: Mapping[str, SeenBehindProxy]) -> Iterator[Part]:
    yield from prose(_HEAD)
    rows = [
        (
            f"[{name.replace('_', ' ')}](#{name.replace('_', '-')})",
            _defects(one),
            one.where,
            _word(one.seen),
            _ours(one),
        )
        for name, one in findings.items()
    ]
    yield tabulated("scenario", "defects", "proxy", "seen", "before ours", rows=rows)
    for name, one in findings.items():
        yield Heading(name.replace("_", " "))
        yield Paragraph(f"{one.story} Defects: {_defects(one)}. Proxy: {one.where}. Seen: {_word(one.seen)}.")
        yield _facts(one)


def _facts(one: SeenBehindProxy) -> Part:
    if not one.ours:
        return tabulated("what", "seen", rows=one.facts)
    ours = dict(one.ours)
    rows = [(what, seen, ours.get(what, "")) for what, seen in one.facts]
    return tabulated("what", "before the real proxy", "before ours", rows=rows)


def _defects(one: SeenBehindProxy) -> str:
    return " ".join(f"[{name}](defects.md#{name.lower()})" for name in one.defects) or "none of the catalogue"


def _ours(one: SeenBehindProxy) -> str:
    return _word(one.seen_before_ours) if one.ours else "not played"


def _word(is_seen: bool) -> str:
    return "yes" if is_seen else "no"
