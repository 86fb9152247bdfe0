"""``halfcheck probe``: drives a broker that is running, as its clients would, and judges it."""

from __future__ import annotations

from halfcheck.errors import ExitCode
from halfcheck.probe.probe_options import ProbeOptions


def command(options: ProbeOptions) -> ExitCode:
    """Play schedules on a running broker over the network, and say whether the specification explains what it did.

    Sends halves and END_TRANSACTIONs, answers checks or does not, and reads the half, op, discard and real topics and
    the offsets of the check service. Nothing but what a client may ask: no store folder, no right of an administrator.
    Topics and groups that it makes begin with halfcheck_probe_ and are named at the end. It begins on a broker without
    pending halves only, unless --beside-others is given, and never sets an offset.

    What to play: scenarios, counterexamples of the table of verdicts, steps, weighted walks, and schedules that
    Hypothesis draws (--examples), which it makes shorter if they fail, as --shrink does with the others. kill and stop,
    and schedules with a crash in them, want commands that kill (--kill), stop (--stop) and start (--start) the broker.

    With --store, the broker's files are held against what it gave, and audited as by halfcheck audit.

    With --known, what the specification of that release explains is fine, be it a guarantee that it breaks: a broker
    that does as the release does gives 0, any other 12.

    The exit code is 0 when all is explained and no guarantee was broken, 12 when one was or something is not explained,
    255 when something could not be held against the specification, 150 when the broker does not answer or is busy.

    Examples
    --------
    halfcheck probe 127.0.0.1:10911
    halfcheck probe 127.0.0.1:10911 --known 5.3.3
    halfcheck probe 127.0.0.1:10911 --scenario immune --scenario late --json
    halfcheck probe 127.0.0.1:10911 --counterexample S1.immune_half --profile 5.3.3+heeds_settled_originals
    halfcheck probe 127.0.0.1:10911 --walks 5 --faults duplicate_end,wrong_end
    halfcheck probe 127.0.0.1:10911 --examples 20 --property S1 --store /home/rocketmq/store
    """
    from halfcheck.probe.probing import probe

    return probe(options)
