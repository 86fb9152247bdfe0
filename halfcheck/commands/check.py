"""``halfcheck check``: which guarantees a version gives, and the shortest counterexample to the others."""

from __future__ import annotations

from halfcheck.check.check_options import OF_REPAIRS, CheckOptions
from halfcheck.check.liveness import asks_of_endless_runs
from halfcheck.errors import ExitCode


def command(options: CheckOptions) -> ExitCode:
    """Search every reachable state of the specification and give a verdict on each property.

    A property is violated as soon as one instance of a portfolio breaks it, with the shortest counterexample;
    it holds, to the bounds of the instances, if none does; it is unknown where a search was cut short. What is broken
    stands first, gravest first, with what it means to a message and what to do. What the faults and messages of the
    instances cannot break is counted apart. --instance asks one instance alone.

    The exit code is 12 when a property is violated, 0 when none is, 255 when a search was cut short and found no
    violation, 130 when it was interrupted and found none. With --instance it speaks of that instance, also where the
    answer says that another one breaks a property.

    With --minimal-faults, every clause gets all minimal sets of faults that break it, the quiet world first, in all
    profiles or in those given; --faults says of which faults, of all if it is not given. Finished searches are kept, so
    that an interrupted run goes on where it stopped.

    --liveness asks what must happen in the end, in runs of any length and under fairness: a violation is a way into a
    cycle and the cycle, and the exit code is 13.

    --compare A B says what it means to go from one release or profile to another: what is new, what is mended, and what
    both have, gravest first, with what to do; with --broker-conf for the times of a configuration. With
    --minimal-repairs, every clause that is broken gets all minimal sets of repairs with which it holds (see --with and
    --among).

    Examples
    --------
    halfcheck check --profile 5.3.3
    halfcheck check --profile 5.4.0 --faults crash --all
    halfcheck check --instance medium --width
    halfcheck check --instance small --faults slow_round --coverage
    halfcheck check --instance medium --faults crash --threads 2 --memory 8G --checkpoint DIR --resume
    halfcheck check --profile 5.4.0 --faults slow_local,lose_end --threads 2 --json
    halfcheck check --instance tiny --property S1.immune_half --engine z3 --max-depth 15
    halfcheck check --minimal-faults --profile 4.9.7 --profile 5.3.3 --instance tiny --property S1
    halfcheck check --instance tiny --property S1.immune_half --itf b01.itf.json --svg b01.svg --pytest test_b01.py
    halfcheck check --broker-conf broker.conf --version 5.3.3 --immunity 60s
    halfcheck check --compare 4.9.7 5.5.1
    halfcheck check --minimal-repairs --profile 5.4.0 --property S1.immune_half
    halfcheck check --minimal-repairs --with skips_long_immunities --profile 5.5.1 --property L2
    halfcheck check --liveness --profile 4.5.1
    halfcheck check --property P5.at_one_moment --profile 5.3.3 --svg spinning.svg
    halfcheck check --broker-conf broker.conf --version 5.5.1 --local 1s --suggest
    """
    if not options.minimal_repairs:
        options.refuse(OF_REPAIRS, "says which repairs --minimal-repairs tries")
    if options.compare is not None:
        from halfcheck.check.comparison import run
    elif options.minimal_repairs:
        from halfcheck.check.minimal_repairs import run
    elif options.minimal_faults:
        from halfcheck.check.minimal_faults import run
    elif options.broker_conf is not None:
        from halfcheck.check.broker_conf import run as judge

        return judge(options, options.broker_conf)
    elif asks_of_endless_runs(options):
        from halfcheck.check.liveness import run
    else:
        from halfcheck.check.search import run
    return run(options)
