"""The lines of ``halfcheck audit --watch``: what is new, and the counts of each look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.parts import Paragraph
from document.words import counted
from files.durations import about
from halfcheck.watching.news import NewsKind
from spark_trace_analysis.audit.rules.transaction_row import local_time

if TYPE_CHECKING:
    from halfcheck.watching.news import Look, News


def news_in_words(news: News) -> Paragraph:
    """One piece of news."""
    begin = f"{_clock(news.at_ms)} {news.source}"
    row = news.row
    if row is None:
        return Paragraph(f"{news.what.value.replace('_', ' ')}{f': {news.why}' if news.why else ''}", label=begin)
    age = f"pending for {about((news.at_ms - row.born) / 1_000)}, " if news.what == NewsKind.HANGING else ""
    like = f" ({' '.join(row.resembles)})" if row.resembles else ""
    return Paragraph(
        f"{news.what.value}{like}: {row.unique_key}{f' ({row.keys})' if row.keys else ''} of "
        f"{row.group or 'no group'}, for {row.topic}: {age}"
        f"{counted(row.checks, 'check')}, {counted(row.deliveries, 'message')} delivered. {row.advice}",
        label=begin,
    )


def look_in_words(look: Look) -> Paragraph:
    """The counts of one look."""
    counts = ", ".join(f"{count:,} {state}" for state, count in look.counts.items() if count) or "no transactions"
    unasked = [group or "no group" for group, count in look.producers.items() if not count]
    alone = f"; no producer of {', '.join(unasked)} is connected" if unasked else ""
    return Paragraph(
        f"{counts}; before the check service {look.half_left:,} halves and {look.op_left:,} op messages{alone}",
        label=f"{_clock(look.at_ms)} {look.source}",
    )


def _clock(milliseconds: int) -> str:
    return (local_time(milliseconds) or "")[11:19]
