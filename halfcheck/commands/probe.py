"""``halfcheck probe``: drives a broker that is running, as its clients would, and judges it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from halfcheck.errors import ExitCode
from halfcheck.options import (
    PROFILES,
    AccessKey,
    AclFile,
    AsJson,
    Faults,
    Properties,
    SecretKey,
    Seed,
    TlsAuthorities,
    UseTls,
)

Target = Annotated[str, typer.Argument(metavar="HOST:PORT", help="The broker's address; not a name server's.")]
ScenarioName = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        metavar="NAME",
        help="outcomes (the usual one), unanswered, twice, contradiction, late, immune, kill, stop; repeatable.",
    ),
]
Counterexample = Annotated[
    list[str] | None,
    typer.Option(metavar="CLAUSE", help="The shortest of the table of verdicts, such as S1.immune_half; repeatable."),
]
Steps = Annotated[str | None, typer.Option(help="Steps as halfcheck replay takes them.")]
InstanceName = Annotated[str, typer.Option("--instance", metavar="NAME", help="The instance of --steps and --walks.")]
Walks = Annotated[int, typer.Option(min=0, max=1_000, help="So many weighted walks of the specification.")]
Examples = Annotated[
    int, typer.Option(min=0, max=1_000, help="So many schedules drawn by Hypothesis, which shrinks the first failure.")
]
Shrink = Annotated[bool, typer.Option("--shrink", help="Make each schedule shorter that fails, as --examples does.")]
ShrinkPlays = Annotated[int, typer.Option(min=0, max=10_000, help="So many plays it may take to shrink a failure.")]
Minutes = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="M", help="--examples and --shrink begin no further play after so long."),
]
StoreFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The broker's store: saved offsets and damage are looked at, and it is audited."),
]
ProfileName = Annotated[
    str | None,
    typer.Option(help=f"{PROFILES}, +NAME or -NAME turns a switch; else the release that the broker says it is."),
]
BesideOthers = Annotated[bool, typer.Option("--beside-others", help="Begin though others have pending halves.")]
Conf = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The broker's settings, where it does not tell them itself.")
]
Known = Annotated[
    str | None,
    typer.Option(
        metavar="X.Y.Z",
        help="What this release does is fine: the exit code is 0 if its specification explains all, guarantees that it "
        "breaks included.",
    ),
]
Command = Annotated[str | None, typer.Option(metavar="CMD", help="A command that does so to the broker's process.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """The options; there are too many for one signature."""

    target: Target
    scenario: ScenarioName = None
    counterexample: Counterexample = None
    steps: Steps = None
    walks: Walks = 0
    examples: Examples = 0
    shrink: Shrink = False
    shrink_plays: ShrinkPlays = 40
    minutes: Minutes = None
    properties: Properties = None
    seed: Seed = 7
    instance: InstanceName = "tiny"
    faults: Faults = ""
    profile: ProfileName = None
    known: Known = None
    broker_conf: Conf = None
    store: StoreFolder = None
    beside_others: BesideOthers = False
    kill: Command = None
    stop: Command = None
    start: Command = None
    access_key: AccessKey = None
    secret_key: SecretKey = None
    acl_file: AclFile = None
    tls: UseTls = False
    tls_ca: TlsAuthorities = None
    json: AsJson = False


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

    Where the broker has access control, --access-key and --secret-key, or --acl-file, sign each request; --tls speaks
    TLS.

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
    halfcheck probe 10.0.0.5:10911 --acl-file /opt/rocketmq/conf/tools.yml --tls
    halfcheck probe 127.0.0.1:10911 --examples 20 --property S1 --store /home/rocketmq/store
    """
    from halfcheck.probe.probing import probe

    return probe(options)
