"""The options that several commands have, each with its help; and what stands for one that is not given."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from halfcheck.errors import CommandLineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.java.given_jar import GivenJar
    from model_check.answers.counterexample_files import WrittenFiles
    from model_check.world import Asked, Environment
    from spec.constants import Instance
    from wire.client.channel import Address

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NO_TURNED_SWITCHES: Final = "was compared with many only where no switch is turned"
"""Why one transaction among others says nothing of repairs."""
USUAL_PROFILE: Final = "5.5.1"
"""The newest release: what is meant where no profile is named."""
PROFILES: Final = "4.5.1, 4.9.7, 5.3.3, 5.4.0, 5.5.0 or 5.5.1"
ProfileName = Annotated[str, typer.Option(help=f"{PROFILES}; +NAME or -NAME turns a switch.")]
Release = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROFILE",
        help=f"{PROFILES}, or another release from 4.3.0 on; {USUAL_PROFILE} if none is given; +NAME or -NAME turns a "
        "switch.",
    ),
]
"""One of them; a list, so that a second one is refused."""
Faults = Annotated[
    str,
    typer.Option(
        metavar="FAULT,…",
        help="What may go wrong, for example crash,lose_end; halfcheck switches --faults lists them. Nothing: quiet.",
    ),
]
Properties = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="ID", help="S1, or one clause: S1.immune_half. May be repeated."),
]
InstanceName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="One instance alone, or a .toml file; halfcheck instances lists them."),
]
MostStates = Annotated[
    int | None, typer.Option(min=1, help="Stop when so many states are stored; what is not violated is unknown.")
]
Write = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Write the first counterexample in the form that the name ends in: .itf.json, .svg, .mmd or .py (a test); "
        "or as itf=FILE, svg=FILE, mermaid=FILE, pytest=FILE. May be repeated.",
    ),
]
Everything = Annotated[
    bool, typer.Option("--all", help="Print all counterexamples, all that holds and all that cannot occur.")
]
Seed = Annotated[int, typer.Option(help="Where the choices come from.")]
Threads = Annotated[int | None, typer.Option(min=1, max=64, help="Searches at a time; all processors.")]
Master = Annotated[
    str,
    typer.Option(help="The Spark master: local[N], spark://HOST:PORT, yarn or k8s://URL; docs/cluster.md says how."),
]
Conf = Annotated[
    list[str] | None,
    typer.Option(
        "--conf", metavar="KEY=VALUE", help="A setting of Spark's, such as spark.driver.memory=4g; repeatable."
    ),
]

AccessKey = Annotated[
    str | None,
    typer.Option(
        envvar="HALFCHECK_ACCESS_KEY",
        metavar="KEY",
        help="The access key that the broker's access control wants; with --acl-file, which of its accounts.",
    ),
]
SecretKey = Annotated[
    str | None,
    typer.Option(
        envvar="HALFCHECK_SECRET_KEY", metavar="SECRET", help="Its secret; the environment hides it from other users."
    ),
]
AclFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Both out of a file such as mqadmin's conf/tools.yml: accessKey:, secretKey:."),
]
UseTls = Annotated[bool, typer.Option("--tls", help="Speak TLS with the broker; its certificate is not verified.")]
TlsAuthorities = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Speak TLS, and trust what is signed by a certificate of this file (PEM) alone."),
]

GivenJarOption = Annotated[
    Path | None,
    typer.Option(
        "--jar",
        metavar="FILE",
        help="Its classes (or those of a folder) stand before those of --real, which it may say itself (wants Maven).",
    ),
]

_FORMS: Final = {".itf.json": "itf", ".svg": "svg", ".mmd": "mermaid", ".py": "pytest"}


def print_json(content: Any) -> None:
    """Print plain data as ``--json`` does in each command."""
    print(json.dumps(content, ensure_ascii=False, indent=2))


def names_in(text: str) -> list[str]:
    """The names of a list with commas.

    Examples
    --------
    >>> names_in("crash, lose_end,"), names_in("")
    (['crash', 'lose_end'], [])
    """
    return [name for name in map(str.strip, text.split(",")) if name]


def given_by(jar: Path | None, release: str) -> GivenJar | None:
    """The jar that `--jar` names, built upon what `--real` names or what it says itself, which is said on stderr.

    Raises `JarsError`.
    """
    if jar is None:
        return None
    from conformance.java.given_jar import given_jar

    given = given_jar(jar, release)
    if not release:
        typer.echo(f"halfcheck: no --real is given: {given.name} says that it is of {given.release}", err=True)
    return given


def broker_address(
    target: str,
    access_key: str | None,
    secret_key: str | None,
    acl_file: Path | None,
    tls_ca: Path | None,
    *,
    tls: bool,
) -> Address:
    """The broker's address, with the credentials and the TLS that the options give.

    Raises
    ------
    CommandLineError
        It is no address, or one of the two keys is missing.
    WireError, OSError, BadContentError
        A file can't be read, or does not hold what it is given for.
    """
    from wire.client.channel import Address
    from wire.client.credentials import Credentials, credentials_in
    from wire.client.tls import Tls

    try:
        address = Address.of(target)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    credentials = None
    if acl_file is not None:
        if secret_key is not None:
            message = f"--acl-file {acl_file} holds the secret: give no --secret-key, and unset HALFCHECK_SECRET_KEY"
            raise CommandLineError(message)
        credentials = credentials_in(acl_file, access_key)
    elif access_key is not None and secret_key is not None:
        credentials = Credentials(access_key, secret_key)
    elif access_key is not None or secret_key is not None:
        given, missing = ("access", "secret") if secret_key is None else ("secret", "access")
        message = (
            f"--{given}-key without --{missing}-key: give both, or unset HALFCHECK_{given.upper()}_KEY; "
            "the environment holds them, too (HALFCHECK_ACCESS_KEY, HALFCHECK_SECRET_KEY)"
        )
        raise CommandLineError(message)
    return replace(address, credentials=credentials, tls=Tls.of(tls_ca) if tls or tls_ca is not None else None)


def refuse_a_file(out: Path | None) -> None:
    """Say before a long run that nothing could be written into a folder after it; raises `NotADirectoryError`."""
    for folder in () if out is None else (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(
                errno.ENOTDIR, "not a folder; --out takes one that is there, or can be made", folder
            )


def environment_of(faults: str) -> Environment:
    """The environment that `--faults` names; raises `ModelCheckError`."""
    from model_check.world import Environment

    return Environment.of(names_in(faults))


def instances_of(name: str | None, no_crowd: str = "") -> tuple[Instance, ...]:
    """The one instance that `--instance` names, if it is given; where there is a reason, none that is crowded.

    Raises `ModelCheckError` and `BadFile`.
    """
    from model_check.instances import load_instance, refuse_crowd

    if name is None:
        return ()
    size = load_instance(name)
    if no_crowd:
        refuse_crowd(size, no_crowd)
    return (size,)


def written_in(names: Sequence[str] | None) -> WrittenFiles:
    """Where `--write` wants a counterexample, and in which forms.

    Raises
    ------
    CommandLineError
        A name says no form, or two are given for one.
    UnwritableFileError
        A file could not be written.
    """
    from model_check.answers.counterexample_files import WrittenFiles, refuse_unwritable

    files: dict[str, Path] = {}
    for name in names or ():
        form, given, rest = name.partition("=")
        if not given or form not in _FORMS.values():
            form, rest = next((form for end, form in _FORMS.items() if name.endswith(end)), ""), name
        if not form or not rest or form in files:
            message = f"--write {name}: expected a name that ends in {', '.join(_FORMS)}, one of each, or FORM=FILE"
            raise CommandLineError(message)
        files[form] = Path(rest)
    wanted = WrittenFiles(**files)
    refuse_unwritable(wanted)
    return wanted


def asked_aloud(named: Sequence[str] | None) -> Asked:
    """The one release or profile that is named; on stderr, which profile speaks for it, which switches change nothing.

    Raises
    ------
    CommandLineError
        Several are named.
    ModelCheckError
        There is none of that name.
    """
    from model_check.world import asked_for

    names = list(dict.fromkeys(named or [USUAL_PROFILE]))
    if len(names) > 1:
        message = f"{' '.join(f'--profile {name}' for name in names)}: give one profile"
        raise CommandLineError(message)
    asked = asked_for(names[0])
    if asked.why:
        typer.echo(f"halfcheck: {asked.why}", err=True)
    elif asked.profile.turned:
        from model_check.switches import turned_in_vain

        for sentence in turned_in_vain(asked.profile):
            typer.echo(f"halfcheck: {asked.profile}: {sentence}", err=True)
    return asked


def say_choice(instance: Instance, why: str, properties: Sequence[str] = ()) -> None:
    """Say on stderr which instance is taken."""
    shows = f"; it shows most of {', '.join(properties)}" if properties else ""
    typer.echo(f"halfcheck: no --instance is given: {instance.name} is taken, {why}{shows}", err=True)
