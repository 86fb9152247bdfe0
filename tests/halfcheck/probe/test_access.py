"""Credentials and TLS of ``halfcheck probe``: where they come from, and that each request carries them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from halfcheck.app import run
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import broker_address
from halfcheck.probe.session import identify
from model_check.world import Profile
from tests.wire.client.scripted_broker import answer, scripted_broker
from tests.wire.clients.relay import Relay
from tests.wire.probe.own_broker import own_broker
from wire.client.channel import Address, RefusedError
from wire.client.credentials import Credentials
from wire.remoting.command import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

TARGET = "10.0.0.5:10911"
OWN = Path(__file__).parents[2] / "wire" / "client" / "certificates" / "broker.pem"


def addressed(options: Mapping[str, str], *, tls: bool = False) -> Address:
    """The address that the options give; those that are paths end in "file" or "ca"."""
    keys = (options.get("access_key"), options.get("secret_key"))
    paths = (Path(options[name]) if name in options else None for name in ("acl_file", "tls_ca"))
    return broker_address(TARGET, *keys, *paths, tls=tls)


def test_keys_come_from_the_options_or_a_file(tmp_path: Path) -> None:
    tools = tmp_path / "tools.yml"
    tools.write_text("accessKey: a\nsecretKey: '1'\n", encoding="utf-8")
    assert addressed({}) == Address("10.0.0.5", 10911)
    assert addressed({"access_key": "a", "secret_key": "1"}).credentials == Credentials("a", "1")
    assert addressed({"acl_file": str(tools)}).credentials == Credentials("a", "1")
    assert addressed({"acl_file": str(tools), "access_key": "a"}).credentials == Credentials("a", "1")


def test_tls_is_asked_for_by_either_option() -> None:
    assert addressed({}).tls is None
    asked, trusting = addressed({}, tls=True).tls, addressed({"tls_ca": str(OWN)}).tls
    assert (asked is not None and asked.authorities, trusting is not None and trusting.authorities) == (None, OWN)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"access_key": "a"}, "--access-key without --secret-key: give both, or unset HALFCHECK_ACCESS_KEY"),
        ({"secret_key": "s"}, "--secret-key without --access-key: give both, or unset HALFCHECK_SECRET_KEY"),
        ({"secret_key": "s", "acl_file": "x.yml"}, "--acl-file x.yml holds the secret: give no --secret-key"),
    ],
)
def test_half_of_the_keys_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(CommandLineError, match=f"^{said}"):
        addressed(options)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--acl-file", "no.yml"], ExitCode.BAD_CONTENT, "no.yml: No such file"),
        (["--tls-ca", "no.pem"], ExitCode.BAD_CONTENT, "no.pem: No such file"),
        (
            ["--acl-file", str(OWN)],
            ExitCode.BAD_CONTENT,
            "broker.pem: no credentials; expected the lines accessKey: KEY",
        ),
        (["--access-key", "a"], ExitCode.BAD_OPTION, "--access-key without --secret-key"),
    ],
)
def test_a_bad_option_or_file_is_named_in_one_line(
    arguments: list[str], code: ExitCode, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["probe", TARGET, *arguments]) == code
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1


def test_a_whole_probe_is_signed_with_a_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HALFCHECK_SECRET_KEY", "12345678")
    with own_broker("5.3.3", tmp_path) as address, Relay(address.port, address.port) as relay:
        told = run(["probe", f"127.0.0.1:{relay.broker}", "--access-key", "rocketmq2", "--known", "5.3.3"])
        sent = [decode(seen.frame) for seen in relay.seen if seen.is_from_client]
    assert told == ExitCode.OK
    assert len(sent) > 10
    for command in sent:
        fields = {name: value for name, value in command.fields.items() if name not in ("AccessKey", "Signature")}
        assert command.fields == Credentials("rocketmq2", "12345678").signed(fields, command.body)
    assert "12345678" not in "".join(capsys.readouterr())


def test_who_is_refused_the_settings_may_say_what_the_broker_is(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("transactionTimeOut=7\n", encoding="utf-8")
    refused = "User:a has no permission to access Cluster:DefaultCluster from 127.0.0.1, no matched policies."
    with scripted_broker(lambda asked: [answer(asked, 16, remark=refused)]) as address:
        target = identify(address, Profile.of("5.3.3"), conf)
    assert (target.release, target.setting("transactionTimeOut")) == (None, 7)
    with scripted_broker(lambda asked: [answer(asked, 16, remark=refused)]) as address, pytest.raises(RefusedError):
        identify(address, Profile.of("5.3.3"), None)
