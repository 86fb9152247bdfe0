"""``halfcheck defects`` from its words to its exit code."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import typer

from halfcheck.defects.found_again import OnRecord, lassos_of, plays, searches
from halfcheck.errors import CommandLineError, ExitCode
from model_check.defects import findings
from model_check.defects.affected import RELEASE
from model_check.defects.catalogue import catalogue
from model_check.defects.lookup import in_release, look_up_all
from model_check.releases import profile_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from halfcheck.defects.defects_options import DefectsOptions
    from model_check.defects.catalogue import Defect
    from model_check.defects.lookup import Lookup


def answer(options: DefectsOptions) -> ExitCode:
    """Look up the words, find again what is asked for, print all of it."""
    if options.version is not None:
        profile_for(options.version)
        _refuse_another_release(options.words or (), options.version)
    answers = look_up_all(options.words or ())
    in_full = [defect for each in answers if not each.title for defect in each.defects]
    answers = _of_release(answers, options.version)
    chosen = list(dict.fromkeys(defect for each in answers for defect in each.defects))
    if not answers:
        chosen = list(catalogue().values())
    on_record, endless = (
        OnRecord(findings.read_findings(), findings.read_broker_findings()),
        findings.read_lasso_findings(),
    )
    failures: dict[str, str] = {}
    asked: list[Defect] = chosen if options.search else in_full
    to_play = chosen if options.play else in_full
    searched = searches(asked, on_record.findings, failures, threads=options.threads, quiet=options.as_json)
    lassos = lassos_of(asked, endless, failures, quiet=options.as_json)
    played = plays(to_play, failures)
    if options.as_json:
        from halfcheck.printing.defects_json import defect_to_json

        content = {
            d.identifier: defect_to_json(d, on_record, searched, played.get(d.identifier), endless.get(d.identifier))
            for d in chosen
        }
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        from document.console import show
        from halfcheck.printing.defects import answers_to_words, list_of_defects

        show(answers_to_words(answers, in_full, on_record, searched, played, lassos, options.version))
        if not answers:
            show(list_of_defects(chosen, on_record, searched, played))
    for identifier, reason in failures.items():
        typer.echo(f"halfcheck: {identifier}: {reason}", err=True)
    return ExitCode.EVALUATION_ERROR if failures else ExitCode.OK


def _refuse_another_release(words: Sequence[str], release: str) -> None:
    for word in words:
        if re.fullmatch(RELEASE, word) and word != release:
            message = f"{word} --version {release}: name one release, or ask halfcheck compare {word} {release}"
            raise CommandLineError(message)


def _of_release(answers: list[Lookup], release: str | None) -> list[Lookup]:
    """What a release has of the answers that are lists; all that it has where there is none."""
    if release is None:
        return answers
    return [each.of_release(release) if each.title else each for each in answers] or [in_release(release)]
