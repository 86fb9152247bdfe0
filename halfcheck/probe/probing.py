"""``halfcheck probe`` from its options to its verdict."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING

import typer

from halfcheck.options import broker_address, names_in
from halfcheck.printing.probe import playing, print_answer, print_in_a_search, print_played, print_target
from halfcheck.probe.answer import ProbeAnswer
from halfcheck.probe.schedules import schedules
from halfcheck.probe.session import Played, Session, identify
from halfcheck.probe.shrinking import Plays, failure_of, shrink
from halfcheck.probe.store_files import StoreFiles
from model_check.clauses import chosen_clauses
from model_check.instances import load_instance
from model_check.world import Environment, Profile, World
from wire.probe.operator import ShellOperator

if TYPE_CHECKING:
    from collections.abc import Collection

    from halfcheck.commands.probe import ProbeOptions
    from halfcheck.errors import ExitCode
    from spec.language import Property
    from wire.client.channel import Address
    from wire.probe.player import Operator

_A_MINUTE_S = 60


def probe(options: ProbeOptions, operator: Operator | None = None) -> ExitCode:
    """Play all that is asked for, and say what was found.

    An operator ends the broker's process, in place of the commands of the options.
    """
    address = broker_address(
        options.target, options.access_key, options.secret_key, options.acl_file, options.tls_ca, tls=options.tls
    )
    operator = operator or _operator(options, address)
    profile = None if options.profile is None else Profile.of(options.profile)
    wanted = chosen_clauses(options.properties or ())
    store = None if options.store is None else StoreFiles(options.store)
    known_profile = None if options.known is None else Profile.standing_for(options.known)[0]
    target = identify(address, profile, options.broker_conf)
    if not options.json:
        print_target(target)
    session = Session(
        target,
        beside_others=options.beside_others,
        operator=operator,
        store=store,
        others=() if known_profile is None else (known_profile,),
        say=None if options.json else lambda line: typer.echo(f"halfcheck: {line}", err=True),
    )
    answer = ProbeAnswer(target, known=options.known, known_profile=known_profile)
    try:
        _play(options, session, answer, wanted, can_die=operator is not None)
    finally:
        session.close()
    answer.names = tuple(session.names)
    if store is not None:
        answer.audit = store.audit(target.release)
    if options.json:
        print(json.dumps(answer.to_json(), indent=2))
    else:
        print_answer(answer)
    return answer.exit_code


def _play(
    options: ProbeOptions, session: Session, answer: ProbeAnswer, wanted: Collection[Property], *, can_die: bool
) -> None:
    """Play schedule after schedule, up to the first with a record that nothing explains."""

    def report(played: Played, why: str) -> None:
        answer.played.append(played)
        if not options.json:
            print_in_a_search(played, why)

    until = math.inf if options.minutes is None else time.monotonic() + _A_MINUTE_S * options.minutes
    asked = list(schedules(options, session.target.profile))
    for number, schedule in enumerate(asked):
        if not options.json:
            typer.echo(f"halfcheck: {playing(schedule, number, len(asked), session.tempo)}", err=True)
        played = session.play(schedule)
        answer.played.append(played)
        if not options.json:
            print_played(session.target, played)
        failure = failure_of(played, wanted)
        if failure is not None and options.shrink:
            answer.searches.append(shrink(Plays(session, until, report, options.shrink_plays), played, failure))
        if failure is not None and failure.clause is None:
            answer.not_played += [each.name for each in asked[number + 1 :]]
            return
    if options.examples:
        from halfcheck.probe.examples import client_schedules, search_examples

        environment = Environment.of(names_in(options.faults))
        world = World(session.target.profile, environment, load_instance(options.instance))
        answer.searches.append(
            search_examples(
                Plays(session, until, report),
                client_schedules(world, session.tempo, can_die=can_die),
                wanted,
                examples=options.examples,
                shrinking_plays=options.shrink_plays,
                random_seed=options.seed,
            )
        )


def _operator(options: ProbeOptions, address: Address) -> ShellOperator | None:
    if options.start is None:
        if options.kill is not None or options.stop is not None:
            message = "--kill and --stop end the broker: give --start CMD, which starts it again, too"
            raise typer.BadParameter(message)
        return None
    return ShellOperator(address, options.start, options.kill, options.stop)
