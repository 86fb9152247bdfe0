"""The answer of a sweep as a document: what to change, in words; the settings that no other beats; the releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from document.parts import Heading, Paragraph, Part, Tone, tabulated
from document.words import counted
from files.durations import three_digits
from halfcheck.printing.what_if import MEASURES_IN_WORDS, cause_in_words, figure, short
from spec.releases.broker_defaults import release_numbers
from traffic.simulation.counts import MEASURES
from traffic.sweep.sweep_answer import AIMS, CHECKS, DELAY, DOUBLED_OR_LOST, SweepAnswer, SweptAnswer, changed
from traffic.sweep.swept_setting import time_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from traffic.rates.intervals import RateEstimate
    from traffic.sweep.differences import PairedDifference
    from traffic.sweep.swept_setting import SweptSetting

_AIMS_IN_WORDS: Final = {
    DOUBLED_OR_LOST: "doubled or lost",
    DELAY: "mean delay from commit to delivery",
    CHECKS: "checks",
}
_SETTINGS: Final = {
    "transactionTimeOut": "transaction_timeout_ms",
    "transactionCheckInterval": "transaction_check_interval_ms",
    "transactionOpBatchInterval": "op_batch_interval_ms",
}
"""Those whose defaults differ between releases and weigh on what a simulation counts."""
_TOLD_EACH: Final = 3
"""More releases beside yours are told of in a table."""
_SECONDS_A_DAY: Final = 86_400


def parts(answer: SweepAnswer) -> Iterator[Part]:
    """The document."""
    for sentence in sentences(answer):
        yield Paragraph(sentence, Tone.TITLE)
    if answer.settings:
        yield Heading("The settings that no other one beats")
        yield Paragraph(
            "A point beats another one if it has no more doubled or lost, mean delay and checks, and less of one of "
            "them beyond the 95 % interval of their difference."
        )
        yield _front_table(answer)
    if len(answer.releases) > 1:
        yield Heading("Releases side by side, with your settings")
        if len(answer.releases) > _TOLD_EACH + 1:
            yield _row_a_release(answer)
            yield Heading("What befalls transactions there, by cause")
        yield _releases_table(answer)
    yours = answer.yours
    total = yours.answer.total.transactions
    yield Paragraph(
        f"{counted(len(answer.points), 'point')}, {total:,} transactions each in "
        f"{len(yours.answer.replications)} runs, at {yours.answer.per_second:g} a second. All points meet the same "
        "arrivals, local transactions and mishaps; intervals of differences are those of paired runs, 95 %."
    )


def sentences(answer: SweepAnswer) -> Iterator[str]:
    """What to change first, and what each of the other releases would bring."""
    yours = answer.yours
    yield f"{_named(yours, answer)}: {_state(yours)}."
    yield from map(_begun, _of_releases(answer))
    if not answer.settings:
        return
    told: list[SweptAnswer] = []
    for aim in AIMS:
        best = answer.best(aim, answer.points, yours)
        if best is None:
            yield f"Nothing that was swept has {_fewer(aim)} than your settings, as far as these runs show."
        elif not any(best is one for one in told):
            told.append(best)
            if not (best.point.is_yours and len(answer.releases) > 1):
                yield f"For {_fewer(aim)}: {_sentence(best, answer)}"


def _of_releases(answer: SweepAnswer) -> Iterator[str]:
    """What each other release brings; of many, those alone that have the least of something."""
    yours, others = answer.yours, [answer.of_release(release)[0] for release in answer.releases[1:]]
    if len(others) <= _TOLD_EACH:
        yield from (_sentence(one, answer) for one in others)
        return
    best = [answer.best(aim, others, yours) for aim in AIMS]
    told = {one.point.release: one for one in best if one is not None}
    yield from (_sentence(one, answer) for one in told.values())
    if not told:
        less = " nor ".join(_fewer(aim) for aim in AIMS)
        yield f"No other release has {less}, as far as these runs show."


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _fewer(aim: str) -> str:
    return {DOUBLED_OR_LOST: "fewer messages doubled or lost", DELAY: "less delay", CHECKS: "fewer checks"}[aim]


def _named(one: SweptAnswer, answer: SweepAnswer) -> str:
    pairs = zip(answer.settings, one.point.values, strict=True)
    values = ", ".join(f"{setting.name} {value.text}" for setting, value in pairs)
    return f"Your settings in RocketMQ {one.point.release}{f' ({values})' if values else ''}"


def _state(one: SweptAnswer) -> str:
    found = one.aims
    return (
        f"{figure(found[DOUBLED_OR_LOST])} doubled or lost a day, a committed message is with its consumer after "
        f"{_time(found[DELAY])} on the mean, {figure(found[CHECKS])} checks a day"
    )


def _sentence(one: SweptAnswer, answer: SweepAnswer) -> str:
    """How to get there from what the user has, and what that changes."""
    yours = answer.yours
    is_other = one.point.release != yours.point.release
    ways = [_upgrade(yours.point.release, one.point.release)] if is_other else []
    pairs = [(answer.settings[place], place) for place in changed(one, yours)]
    if pairs:
        ways.append("change " + " and ".join(_change(setting, place, one, yours) for setting, place in pairs))
    effects = [_counted_effect(name, one, yours) for name in ("doubled", "lost")]
    effects += [
        _counted_effect(name, one, yours)
        for name in MEASURES
        if name not in {"doubled", "lost", "checked_needlessly"} and one.differs_from(yours, name).is_sure
    ]
    effects.append(_delay_effect(one, yours))
    effects.append(_counted_effect(CHECKS, one, yours))
    return f"{' and '.join(ways)}: {', '.join(effects)}.{_other_defaults(one, answer)}"


def _upgrade(mine: str, other: str) -> str:
    first, second = release_numbers(mine), release_numbers(other)
    if first and second:
        return f"{'upgrade' if second > first else 'go back'} from {mine} to {other}"
    return f"take {other} in the place of {mine}"


def _other_defaults(one: SweptAnswer, answer: SweepAnswer) -> str:
    """The settings that another release takes otherwise, as neither a file nor the sweep has them."""
    mine, its = answer.yours.point.broker.settings, one.point.broker.settings
    pairs = [
        (key, getattr(mine, name), getattr(its, name))
        for key, name in _SETTINGS.items()
        if key not in {setting.name for setting in answer.settings}
    ]
    other = [f"{key} goes from {time_text(old)} to {time_text(new)}" for key, old, new in pairs if old != new]
    return f" As your files leave it to the release, {' and '.join(other)}." if other else ""


def _change(setting: SweptSetting, place: int, one: SweptAnswer, yours: SweptAnswer) -> str:
    return f"{setting.name} from {yours.point.values[place].text} to {one.point.values[place].text}"


def _counted_effect(name: str, one: SweptAnswer, yours: SweptAnswer) -> str:
    found = one.differs_from(yours, name)
    word = MEASURES_IN_WORDS.get(name, _AIMS_IN_WORDS.get(name, name))
    if found.is_sure:
        return f"{_bounded(found)} {word} a day"
    if found.value:
        seen = f"{short(abs(found.value))} {'fewer' if found.value < 0 else 'more'} {word} a day"
        return f"{seen}, which may be chance ({short(-found.low)} fewer to {short(found.high)} more)"
    return f"{word} as before (a difference of up to {short(max(-found.low, found.high))} a day may be there)"


def _bounded(found: PairedDifference) -> str:
    """A sure difference: `41 fewer (36 to 46)`.

    Examples
    --------
    >>> from traffic.sweep.differences import PairedDifference
    >>> _bounded(PairedDifference(-41.0, -46.0, -36.0)), _bounded(PairedDifference(2.0, 1.0, 3.0))
    ('41 fewer (36 to 46)', '2 more (1 to 3)')
    """
    low, high = sorted((abs(found.low), abs(found.high)))
    return f"{short(abs(found.value))} {'fewer' if found.value < 0 else 'more'} ({short(low)} to {short(high)})"


def _delay_effect(one: SweptAnswer, yours: SweptAnswer) -> str:
    found = one.differs_from(yours, DELAY)
    p99 = [each.answer.times[0].at["p99"] for each in (yours, one)]
    of_p99 = "" if None in p99 else f", p99 {' to '.join(three_digits(at[0]) for at in p99 if at is not None)}"
    if not found.is_sure:
        return (
            f"mean delay from {three_digits(yours.aims[DELAY].value)} to {three_digits(one.aims[DELAY].value)}, "
            f"which may be chance{of_p99}"
        )
    low, high = sorted((abs(found.low), abs(found.high)))
    return (
        f"mean delay from {three_digits(yours.aims[DELAY].value)} to {three_digits(one.aims[DELAY].value)} "
        f"({three_digits(low)} to {three_digits(high)} {'less' if found.value < 0 else 'more'}{of_p99})"
    )


def _time(estimate: RateEstimate) -> str:
    return f"{three_digits(estimate.value)} ({three_digits(estimate.low)} to {three_digits(estimate.high)})"


def _front_table(answer: SweepAnswer) -> Part:
    has_releases = len(answer.releases) > 1
    columns = (
        *(["release"] if has_releases else []),
        *(setting.name for setting in answer.settings),
        ">doubled or lost a day", ">mean delay", ">p99", ">checks a day", "",
    )  # fmt: skip
    yours = answer.yours
    shown = list(answer.front)
    if not any(one is yours for one in shown):
        shown.append(yours)
    rows = []
    for one in shown:
        p99 = one.answer.times[0].at["p99"]
        is_beaten = not any(one is other for other in answer.front)
        rows.append(
            (
                *([one.point.release] if has_releases else []),
                *(value.text for value in one.point.values),
                figure(one.aims[DOUBLED_OR_LOST]),
                _time(one.aims[DELAY]),
                "–" if p99 is None else three_digits(p99[0]),
                figure(one.aims[CHECKS]),
                f"yours{', beaten' if is_beaten else ''}" if one is yours else "",
            )
        )
    return tabulated(*columns, rows=rows)


def _row_a_release(answer: SweepAnswer) -> Part:
    """What many releases have, a line each, and how that differs from the first."""
    rows = []
    for release in answer.releases:
        one = answer.of_release(release)[0]
        is_first = one is answer.yours
        differences = ("yours", "") if is_first else tuple(
            _gap(one.differs_from(answer.yours, aim)) for aim in (DOUBLED_OR_LOST, CHECKS)
        )  # fmt: skip
        counts = (figure(one.aims[DOUBLED_OR_LOST]), figure(one.aims[CHECKS]))
        rows.append((release, counts[0], differences[0], _time(one.aims[DELAY]), counts[1], differences[1]))
    against = f">against {answer.yours.point.release}"
    return tabulated(
        "~release", ">doubled or lost a day", against, ">mean delay", ">checks a day", against, rows=rows
    )  # fmt: skip


def _value(estimate: RateEstimate | None) -> str:
    """A figure without its interval, which another table has."""
    if estimate is None:
        return "–"
    return f"< {short(estimate.high)}" if estimate.is_bound else short(estimate.value)


def _releases_table(answer: SweepAnswer) -> Part:
    """Each measure a day and by cause, in each release, and how the others differ from the first where they are few."""
    first, *others = (answer.of_release(release)[0] for release in answer.releases)
    if len(others) > _TOLD_EACH:
        return _causes_table((first, *others))
    rows: list[tuple[str, ...]] = []
    for measure in MEASURES:
        found = [one.answer.rates(measure) for one in (first, *others)]
        if not any(rates.whole.counted for rates in found):
            rows.append(
                (MEASURES_IN_WORDS[measure], *(figure(rates.whole.per_day) for rates in found), *[""] * len(others))
            )
            continue
        gaps = [_gap(one.differs_from(first, measure)) for one in others]
        rows.append((MEASURES_IN_WORDS[measure], *(figure(rates.whole.per_day) for rates in found), *gaps))
        causes = dict.fromkeys(cause for rates in found for cause, _ in rates.causes)
        for cause in causes:
            cells = (dict(rates.causes).get(cause) for rates in found)
            own = [
                "–" if cell is None else short(cell.counted * _a_day(one))
                for cell, one in zip(cells, (first, *others), strict=True)
            ]
            rows.append((f"by {cause_in_words(cause)}", *own, *[""] * len(others)))
    rows.append(
        ("mean delay", *(_time(one.aims[DELAY]) for one in (first, *others)),
         *(_gap(one.differs_from(first, DELAY), is_time=True) for one in others))
    )  # fmt: skip
    rows.append(
        ("checks", *(figure(one.aims[CHECKS]) for one in (first, *others)),
         *(_gap(one.differs_from(first, CHECKS)) for one in others))
    )  # fmt: skip
    head = [f">{one.point.release}" for one in (first, *others)]
    differences = [f">{one.point.release} against {first.point.release}" for one in others]
    return tabulated("~a day", *head, *differences, rows=rows)


def _causes_table(releases: tuple[SweptAnswer, ...]) -> Part:
    """Each measure a day and by cause, without intervals."""
    rows: list[tuple[str, ...]] = []
    for measure in MEASURES:
        found = [one.answer.rates(measure) for one in releases]
        rows.append((MEASURES_IN_WORDS[measure], *(_value(rates.whole.per_day) for rates in found)))
        for cause in dict.fromkeys(cause for rates in found for cause, _ in rates.causes):
            cells = [(dict(rates.causes).get(cause), one) for rates, one in zip(found, releases, strict=True)]
            own = ("–" if cell is None else short(cell.counted * _a_day(one)) for cell, one in cells)
            rows.append((f"by {cause_in_words(cause)}", *own))
    return tabulated("~a day", *(f">{one.point.release}" for one in releases), rows=rows)


def _a_day(one: SweptAnswer) -> float:
    """How many a day one of a run's events stands for."""
    return _SECONDS_A_DAY * one.answer.per_second / max(one.answer.total.transactions, 1)


def _gap(found: PairedDifference, *, is_time: bool = False) -> str:
    said = three_digits if is_time else short
    if found.low == found.high == 0:
        return "none"
    if not found.is_sure and not found.value:
        return f"none seen (up to {said(max(-found.low, found.high))})"
    if not found.is_sure:
        seen = f"{'−' if found.value < 0 else '+'}{said(abs(found.value))}"
        return f"{seen} (−{said(-found.low)} to +{said(found.high)})"
    low, high = sorted((abs(found.low), abs(found.high)))
    sign = "−" if found.value < 0 else "+"
    return f"{sign}{said(abs(found.value))} ({said(low)} to {said(high)})"
