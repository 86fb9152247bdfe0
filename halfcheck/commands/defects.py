"""``halfcheck defects``: the known defects, and the searches and scenarios that find them again."""

from __future__ import annotations

from halfcheck.defects.defects_options import DefectsOptions
from halfcheck.errors import ExitCode


def command(options: DefectsOptions) -> ExitCode:
    """List the known defects of RocketMQ's transactional messages, by symptom or by release, or show some in full.

    The words may be what a user sees, in English or Chinese, a line of the broker's log or the number of an issue: the
    answer is a list of what it may be. --version leaves those that a release has; a release alone lists all of them.

    The list of all gives the depth and the seconds on record of each search; of a property or a clause it has the
    defects that break it, of a switch those that it mends or makes. With an id the search is made again: in the profile
    that has the defect, where the shortest counterexample must be one of it, and in the profile that is rid of it,
    where there must be none. Where a defect stops something for ever, or seems to, runs without an end are searched as
    well. What shows in a broker only is played on the reference broker, in two profiles likewise. The exit code is 75
    when a search or a scenario does not find what the catalogue says.

    Examples
    --------
    halfcheck defects
    halfcheck defects delivered twice --version 5.3.3
    halfcheck defects 一直回查
    halfcheck defects 5.3.3
    halfcheck defects B01
    halfcheck defects S1.immune_half
    halfcheck defects settles_once
    halfcheck defects A06
    halfcheck defects A11 A12 --json
    halfcheck defects --search --threads 2
    """
    from halfcheck.defects.answering import answer

    return answer(options)
