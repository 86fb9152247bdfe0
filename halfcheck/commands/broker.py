"""``halfcheck broker``: the reference broker on the wire, for the tests of whoever uses RocketMQ."""

from __future__ import annotations

from halfcheck.broker.broker_options import BrokerOptions
from halfcheck.errors import ExitCode


def command(options: BrokerOptions) -> ExitCode:
    """Serve real clients: a broker and name server of any release, whose time and faults a test decides.

    Unmodified RocketMQ clients connect to the address that is printed, as to a name server. Topics are made when they
    are sent to, checks go out, retries and dead letters come, and the store is one that a real broker opens. --speed 60
    lets 15 checks of 60 s pass in 15 s; with --clock virtual time stands still until control pushes it.

    It stops on Ctrl-C or SIGTERM, in the order in which its release stops, and then says which guarantees the run
    broke, and which known defects its transactions resemble. The exit code is 0 then, or 12 if something was broken.

    With control, gives one order to a broker that runs; --order gives the same at the start. Its port listens on
    127.0.0.1 only and wants the token that was printed. docs/broker.md has more of each, and of the kinds of faults.

    Orders
    ------
    control status: what the broker is doing
    control push_clock ms=N: let time pass at once, and all that is due in it happen
    control step_clock ms=N: set the wall clock forward or back, while no time passes
    control crash at_write=N: kill the process now, or at a write from now on; it starts again
    control restart: stop as told in the release's order, and start again
    control role role=slave|acting_master|master: become slave, acting_master or master
    control unreachable_producer group=G ends=false: no check reaches a group, until ends=true
    control fault fault=KIND times=1 chance=1.0 delay_ms=1000 key=KEY: what is to befall messages
    control fault fault=refuse|refuse_answer request=NAME code=N remark=TEXT: how requests are answered
    control clear: no fault any more; what was held back goes on

    Examples
    --------
    halfcheck broker --profile 5.3.3
    halfcheck broker --profile 4.9.7 --port 0 --store /tmp/store --broker-conf broker.conf --speed 60
    halfcheck broker --clock virtual --order "fault fault=double_end key=order-7" --trace trace.jsonl
    halfcheck broker control push_clock ms=60000 --at 127.0.0.1:41234 --token TOKEN
    halfcheck broker control fault fault=lose_end times=1 --at 127.0.0.1:41234
    """
    if options.words:
        from halfcheck.broker.control import give_order

        return give_order(options)
    from halfcheck.broker.serving import serve

    return serve(options)
