"""Signatures as RocketMQ's own class makes them, credentials as it reads them, and what a refusal becomes."""

from __future__ import annotations

import hashlib
from base64 import b64decode
from typing import TYPE_CHECKING

import pytest

from tests.wire.client.scripted_broker import answer, scripted_broker
from wire.client.channel import Address, BrokerChannel, NoAnswerError, RefusedError
from wire.client.credentials import BadCredentialsError, Credentials, credentials_in
from wire.client.queries import end_of_queue, release_and_settings
from wire.client.transactions import heartbeat
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.remoting.command import RemotingCommand

TOOLS = Credentials("rocketmq2", "12345678")
WITH_TOKEN = Credentials("key", "sécret", "token")
PULL = {
    "topic": "RMQ_SYS_TRANS_HALF_TOPIC", "queueId": "0", "queueOffset": "32", "consumerGroup": "TOOLS_CONSUMER",
    "a": "", "_": "x",
}  # fmt: skip
SIGNED = [
    (TOOLS, {}, b"", "Ou1T58RIcyZWaTIwzkhJZWn/Zvs="),
    (TOOLS, PULL, b"", "tYd93ovSMF4B8d6aakXK/7i/sok="),
    (TOOLS, {"b": "Töpic", "Zz": "1", "zZ": "2"}, "hello é".encode(), "npnuEbRgQU7f0o3daydGHZdPS4E="),
    (WITH_TOKEN, {"topic": "T", "SecretThing": "y"}, b"\0\xff", "B4vRsR5VSb+i9KXfr13xWa+r/Jk="),
]
"""What ``AclClientRPCHook#doBeforeRequest`` of the jars 4.9.7 and 5.3.3, which agree, adds as Signature."""

READ_BY_JAVA = [
    ("12345678", "12345678"), ("0", "0"), ("12ab34cd", "12ab34cd"), ("s3cret", "s3cret"), ("s3cret # why", "s3cret"),
    ("'s3cret'", "s3cret"), ("'it''s'  # why", "it's"), ('"a b"', "a b"), ("+abc", "+abc"), ("-abc", "-abc"),
    ("ab:cd", "ab:cd"), ("https://x/y", "https://x/y"), ("abc==", "abc=="), ("/abc+def", "/abc+def"),
    ("'0123' ", "0123"), ("y", "y"), ("abc!#%&*,[]{}", "abc!#%&*,[]{}"), ("$x^&*()", "$x^&*()"),
]  # fmt: skip
"""Secrets in a file, and what ``AclUtils#getAclRPCHook`` of 4.9.7 makes of them (SnakeYAML 1.30)."""

OTHERWISE_IN_JAVA = {
    "0123": "83", "1e10": "1.0E10", "1.50": "1.5", "0x1F": "31", "12_34": "1234", "Yes": "true", "off": "false",
    "2026-01-02": "Fri Jan 02 00:00:00 UTC 2026", "12:30": "750", ".5": "0.5", "+5": "5", "0b11": "3",
    r'"a\tb"': "a\tb", ".inf": "Infinity", "~": None, "null": None, "@abc": None, "*abc": None, "ab: cd": None,
}  # fmt: skip
"""Secrets that Java reads as something else than they look, by the same method; None where it gives no hook."""


def by_hand(secret: str, content: bytes) -> bytes:
    """HMAC of RFC 2104 with SHA-1, out of the hash alone."""
    key = secret.encode().ljust(64, b"\0")

    def hashed(pad: int, data: bytes) -> bytes:
        return hashlib.sha1(bytes(byte ^ pad for byte in key) + data, usedforsecurity=False).digest()

    return hashed(0x5C, hashed(0x36, content))


@pytest.mark.parametrize(("who", "fields", "body", "signature"), SIGNED)
def test_a_signature_is_that_of_rocketmqs_own_class(
    who: Credentials, fields: dict[str, str], body: bytes, signature: str
) -> None:
    signed = who.signed(fields, body)
    assert signed.pop("Signature") == signature
    added = {"AccessKey": who.access_key, **({"SecurityToken": "token"} if who is WITH_TOKEN else {})}
    assert signed == {**fields, **added}
    content = b"".join(value.encode() for _, value in sorted(signed.items()))
    assert by_hand(who.secret_key, content + body) == b64decode(signature)


def test_each_request_is_signed_with_what_goes_over_the_wire() -> None:
    asked: list[RemotingCommand] = []

    def script(request: RemotingCommand) -> Iterator[bytes]:
        asked.append(request)
        yield answer(request, ResponseCode.SUCCESS, offset=7)

    with scripted_broker(script) as address, BrokerChannel(with_credentials(address, TOOLS)) as channel:
        assert end_of_queue(channel, "Orders") == 7
        channel.send_oneway(RequestCode.HEART_BEAT, {"none": None, "flag": True}, b"body")
        assert end_of_queue(channel, "Orders") == 7
    for request in asked:
        fields = dict(request.fields)
        signature = fields.pop("Signature")
        content = "".join(value for _, value in sorted(fields.items())).encode() + request.body
        assert by_hand(TOOLS.secret_key, content) == b64decode(signature)
    assert [request.fields["AccessKey"] for request in asked] == ["rocketmq2"] * 3
    assert asked[1].fields.keys() == {"flag", "AccessKey", "Signature"}


def with_credentials(address: Address, credentials: Credentials | None) -> Address:
    return Address(address.host, address.port, credentials)


def test_no_secret_is_shown() -> None:
    assert "sécret" not in repr(WITH_TOKEN)
    assert "12345678" not in repr(Address("h", 1, TOOLS))


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("written", "read"), READ_BY_JAVA)
def test_a_secret_is_read_as_java_reads_it(written: str, read: str, tmp_path: Path) -> None:
    path = tmp_path / "tools.yml"
    path.write_text(f"# mqadmin\naccessKey: rocketmq2\nsecretKey: {written}\n\n", encoding="utf-8")
    assert credentials_in(path) == Credentials("rocketmq2", read)


@pytest.mark.parametrize("written", OTHERWISE_IN_JAVA)
def test_a_secret_that_java_reads_otherwise_is_refused_and_not_shown(written: str, tmp_path: Path) -> None:
    path = tmp_path / "tools.yml"
    path.write_text(f"accessKey: a\nsecretKey: {written}\n", encoding="utf-8")
    with pytest.raises(BadCredentialsError) as caught:
        credentials_in(path)
    assert str(caught.value) == (
        f"{path}, line 2: secretKey is not read by YAML as it is written; put it into single quotes"
    )


ACCOUNTS = """globalWhiteRemoteAddresses:
  - 10.10.103.*

accounts:
  - accessKey: RocketMQ
    secretKey: 12345678
    topicPerms:
      - topicA=DENY

  - admin: true
    accessKey: rocketmq2
    secretKey: 'abc'
    securityToken: t
"""
"""``plain_acl.yml`` of 4.9.7, shortened, its second account with another order of its keys."""


def test_of_a_brokers_own_file_one_account_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "plain_acl.yml"
    path.write_text(ACCOUNTS, encoding="utf-8")
    assert credentials_in(path, "RocketMQ") == Credentials("RocketMQ", "12345678")
    assert credentials_in(path, "rocketmq2") == Credentials("rocketmq2", "abc", "t")
    for chosen, said in ((None, "several accounts"), ("x", "not one account x")):
        with pytest.raises(BadCredentialsError, match=rf"{said}; give --access-key with one of RocketMQ, rocketmq2$"):
            credentials_in(path, chosen)


@pytest.mark.parametrize("text", ["", "accessKey: a\n", "accessKey: a\nsecretKey:\n", "{accessKey: a, secretKey: b}\n"])
def test_a_file_without_credentials_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "tools.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadCredentialsError, match=r"tools\.yml: no credentials; expected the lines accessKey: KEY and"):
        credentials_in(path)


# --- refusals ---------------------------------------------------------------------------------------------------------

OF_4 = (
    "org.apache.rocketmq.acl.common.AclException: {}, "
    "org.apache.rocketmq.acl.plain.PlainPermissionManager.validate(PlainPermissionManager.java:612)"
)
GIVE = "give --acl-file FILE, or --access-key with the secret key"
GRANT = "have the broker's operator grant it, or give the key of one who may"


@pytest.mark.parametrize(
    ("who", "code", "remark", "said"),
    [
        (None, 1, OF_4.format("No accessKey is configured"), f"no access key: No accessKey is configured; {GIVE}"),
        (None, 16, "username cannot be null.", f"no access key: username cannot be null; {GIVE}"),
        (
            TOOLS,
            1,
            OF_4.format("Check signature failed for accessKey=rocketmq2"),
            "access key rocketmq2: Check signature failed for accessKey=rocketmq2; its secret key is another one there",
        ),
        (
            TOOLS,
            16,
            "check signature failed.",
            "access key rocketmq2: check signature failed; its secret key is another one there",
        ),
        (
            TOOLS,
            1,
            OF_4.format("No acl config for rocketmq2"),
            f"access key rocketmq2: No acl config for rocketmq2; {GRANT}",
        ),
        (
            TOOLS,
            16,
            "User:rocketmq2 has no permission to access Topic:Orders from 10.0.0.9, no matched policies.",
            "access key rocketmq2: User:rocketmq2 has no permission to access Topic:Orders from 10.0.0.9, no matched "
            f"policies; {GRANT}",
        ),
    ],
)
def test_a_refusal_names_broker_request_topic_key_and_what_to_do(
    who: Credentials | None, code: int, remark: str, said: str
) -> None:
    with (
        scripted_broker(lambda asked: [answer(asked, code, remark=remark)]) as address,
        BrokerChannel(with_credentials(address, who)) as channel,
        pytest.raises(RefusedError) as caught,
    ):
        end_of_queue(channel, "Orders")
    assert str(caught.value) == f"{address}: request 30 for Orders is refused with {said}"


def test_other_answers_with_these_codes_are_no_refusals() -> None:
    remarks = {RequestCode.GET_MAX_OFFSET: (1, "no such queue"), RequestCode.HEART_BEAT: (16, "it is forbidden")}

    def script(asked: RemotingCommand) -> Iterator[bytes]:
        code, remark = remarks[RequestCode(asked.code)]
        yield answer(asked, code, remark=remark)

    with scripted_broker(script) as address, BrokerChannel(address) as channel:
        assert end_of_queue(channel, "Orders") == 0
        with pytest.raises(NoAnswerError, match=r"the heartbeat is answered 16: it is forbidden$") as caught:
            heartbeat(channel, "client", "group")
    assert not isinstance(caught.value, RefusedError)


def test_a_broker_that_refuses_all_says_so_when_it_is_asked_what_it_is() -> None:
    remark = OF_4.format("No accessKey is configured")
    with (
        scripted_broker(lambda asked: [answer(asked, 1, remark=remark)]) as address,
        BrokerChannel(address) as channel,
        pytest.raises(RefusedError, match="request 26 is refused with no access"),
    ):
        release_and_settings(channel)
