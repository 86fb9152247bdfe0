"""The answer of ``halfcheck what-if``: three sentences, then tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from document.console import show
from document.parts import Heading, Paragraph, Part, Tone, tabulated
from files.durations import about, duration, three_digits
from model_check.defects.catalogue import defect_called
from traffic.rates.answer import MISHAPS, MeasureRates, TrafficAnswer
from traffic.simulation.replications import LEAST_INTERVALS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.broker.broker_settings import BrokerSettings
    from traffic.rates.answer import Quantiles
    from traffic.rates.intervals import RateEstimate
    from traffic.workload.workload import TrafficWorkload

MEASURES_IN_WORDS: Final = {
    "doubled": "doubled",
    "lost": "lost",
    "discarded": "discarded",
    "delivered_after_rollback": "delivered after a rollback",
    "delivered_after_discard": "delivered after a discard",
    "checked_needlessly": "checked needlessly",
}
_ID: Final = re.compile(r"[AB]\d\d")
_SECOND_MS: Final = 1000


def print_answer(answer: TrafficAnswer, workload: TrafficWorkload, release: str) -> None:
    """Print it."""
    show(parts(answer, workload, release))


def parts(answer: TrafficAnswer, workload: TrafficWorkload, release: str) -> Iterator[Part]:
    """The answer as a document."""
    for sentence in sentences(answer, release):
        yield Paragraph(sentence, Tone.TITLE)
    yield Heading(f"What befalls transactions, at {answer.per_second:g} a second")
    yield tabulated("", ">of a million", ">a day", "~cause", rows=_rows(answer))
    yield Heading("Times and load")
    yield tabulated("", ">p50", ">p99", ">p99.9", ">of", rows=map(_quantile_row, answer.times))
    total = answer.total
    yield tabulated(
        "", "",
        rows=[
            ("checks for each transaction", figure(answer.checks_per_transaction)),
            ("log bytes for each byte of a message", figure(answer.write_amplification)),
            ("halves whose send failed", f"{total.sends_failed:,}, after {total.sent_again:,} attempts behind a first"),
            ("END_TRANSACTIONs lost, refused", f"{total.ends_lost:,}, {total.ends_refused:,}"),
            ("under way at the end", f"{total.open_at_end:,}"),
        ],
    )  # fmt: skip
    met = ", ".join(f"{getattr(total, name):,} {name.replace('_', ' ')}" for name in MISHAPS if getattr(total, name))
    yield Paragraph(
        f"{total.transactions:,} transactions in {len(answer.replications)} runs, "
        f"{about(total.arriving_ms / _SECOND_MS)} of traffic. What they met: {met or 'no mishap'}."
    )
    if workload.left_out:
        yield Paragraph(f"Never happens, as {workload.name} does not have it: {', '.join(workload.left_out)}.")


def sentences(answer: TrafficAnswer, release: str) -> Iterator[str]:
    """The three that say the most."""
    doubled, lost, discarded = (answer.rates(name) for name in ("doubled", "lost", "discarded"))
    yield f"RocketMQ {release}: {_in_words(doubled)}."
    yield f"{_in_words(lost).capitalize()}; {_in_words(discarded)}."
    delivery = answer.times[0]
    late = ", ".join(f"{three_digits(found[0])} ({name})" for name, found in delivery.at.items() if found is not None)
    checks = answer.rates("checked_needlessly")
    yield (
        f"A committed message is with its consumer after {late or 'a time that too few show'}; "
        f"of {answer.total.checks:,} checks {checks.whole.counted:,} were needless{_by(checks)}."
    )


def remarks_on(answer: TrafficAnswer, workload: TrafficWorkload, settings: BrokerSettings, runs: int) -> Iterator[str]:
    """What bounds the answer."""
    done = len(answer.replications)
    if done < runs:
        yield f"interrupted: the answer is that of {done} of {runs} runs"
    each_ms = answer.total.arriving_ms / done
    wanted_ms = LEAST_INTERVALS * settings.transaction_check_interval_ms
    if each_ms < wanted_ms:
        more = round(wanted_ms * runs * workload.arrivals.per_second / _SECOND_MS)
        interval = duration(settings.transaction_check_interval_ms)
        yield (
            f"each run is {about(each_ms / _SECOND_MS)} of traffic, less than {LEAST_INTERVALS} check intervals of "
            f"{interval}: its rounds meet halves in another way than those of a broker at work; take --transactions "
            f"{more} or more, or fewer --replications"
        )
    for section, name in (("crashes", "crashes"), ("restarts", "restarts"), ("deployments", "deployments")):
        if getattr(workload, section) is not None and not getattr(answer.total, name):
            yield f"no {name} fell into the time that was simulated: nothing here shows what they do"


_SEEN_AS_NONE: Final = 1e-3
"""A lower end that is a smaller share of its figure is printed as 0."""


def figure(estimate: RateEstimate | None) -> str:
    """A figure with its interval; what was never seen as a bound.

    Examples
    --------
    >>> from traffic.rates.intervals import RateEstimate
    >>> figure(RateEstimate(410.2, 380.1, 442.0)), figure(RateEstimate(0.0, 0.0, 2.9957, is_bound=True))
    ('410 (380 to 442)', 'fewer than 3')
    """
    if estimate is None:
        return "–"
    if estimate.is_bound:
        return f"fewer than {short(estimate.high)}"
    low = estimate.low if estimate.low >= estimate.value * _SEEN_AS_NONE else 0.0
    return f"{short(estimate.value)} ({short(low)} to {short(estimate.high)})"


def short(number: float) -> str:
    """Three digits that say something, or all before the point.

    Examples
    --------
    >>> short(1234567.0), short(0.04567), short(2.9957), short(0.0)
    ('1,234,567', '0.0457', '3', '0')
    """
    if not number:
        return "0"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) < 1e-4 else f"{float(f'{number:.3g}'):g}"


def _in_words(rates: MeasureRates) -> str:
    """A measure in words, with its two most frequent causes."""
    word, whole = MEASURES_IN_WORDS[rates.measure], rates.whole
    if whole.each is None:
        return f"{word}: nothing was simulated"
    if whole.each.is_bound:
        return f"{word} fewer than {short((whole.per_day or whole.each).high)} a day (none was seen, 95 %)"
    return f"{word} {figure(whole.per_day)} a day{_by(rates)}"


def _by(rates: MeasureRates) -> str:
    if not rates.causes:
        return ""
    named = [
        f"{100 * rate.counted / rates.whole.counted:.3g} % by {cause_in_words(cause)}"
        for cause, rate in rates.causes[:2]
    ]
    return f", {' and '.join(named)}"


def cause_in_words(cause: str) -> str:
    """An id with what it is called; words stay words."""
    return f"{cause} ({defect_called(cause).name})" if _ID.fullmatch(cause) else f"“{cause}”"


def _rows(answer: TrafficAnswer) -> Iterator[tuple[str, str, str, str]]:
    for rates in answer.measures:
        whole = rates.whole
        yield MEASURES_IN_WORDS[rates.measure], figure(whole.per_million), figure(whole.per_day), ""
        for cause, rate in rates.causes:
            yield "", figure(rate.per_million), figure(rate.per_day), cause_in_words(cause)


def _quantile_row(times: Quantiles) -> tuple[str, ...]:
    is_time = times.name.endswith("_ms")
    cells = []
    for found in times.at.values():
        if found is None:
            cells.append("–")
            continue
        value, interval = found
        said = three_digits if is_time else short
        bounds = "" if interval is None else f" ({said(interval.low)} to {said(interval.high)})"
        cells.append(f"{said(value)}{bounds}")
    name = times.name.removesuffix("_ms").replace("_", " ")
    return f"{name}{'' if is_time else ', halves'}", *cells, f"{times.counted:,}"
