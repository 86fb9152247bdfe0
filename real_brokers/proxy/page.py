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
"""


def write_page(findings: Mapping[str, SeenBehindProxy]) -> None:
    """Write the page; it appears whole or not at all."""
    write_whole(PAGE, markdown(list(_parts(findings))))


def _parts(findings: Mapping[str, SeenBehindProxy]) -> Iterator[Part]:
    yield from prose(_HEAD)
    rows = [
        (f"[{name.replace('_', ' ')}](#{name.replace('_', '-')})", _defects(one), one.where, _seen(one))
        for name, one in findings.items()
    ]
    yield tabulated("scenario", "defects", "proxy", "seen", rows=rows)
    for name, one in findings.items():
        yield Heading(name.replace("_", " "))
        yield Paragraph(f"{one.story} Defects: {_defects(one)}. Proxy: {one.where}. Seen: {_seen(one)}.")
        yield tabulated("what", "seen", rows=one.facts)


def _defects(one: SeenBehindProxy) -> str:
    return " ".join(f"[{name}](defects.md#{name.lower()})" for name in one.defects) or "none of the catalogue"


def _seen(one: SeenBehindProxy) -> str:
    return "yes" if one.seen else "no"
