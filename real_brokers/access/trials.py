"""What our client is to get from a real broker with access control, with TLS alone, and without TLS."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from files.content import parse_json
from files.reading import read_bytes
from real_brokers.rocketmq.broker import RealBroker
from real_brokers.rocketmq.configuration import RUN
from reference.format.consumer_offsets import read_consumer_offsets
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from wire.client.byte_rate import ByteRate
from wire.client.channel import BrokerChannel, NoAnswerError
from wire.client.credentials import Credentials
from wire.client.queries import end_of_queue
from wire.client.queue_reader import GROUP, QueueReader
from wire.client.stored_messages import QueueStretch
from wire.client.tls import Tls
from wire.client.transactions import COMMIT, end_transaction, heartbeat, send_half
from wire.errors import WireError
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wire.client.channel import Address

_CERTIFICATES: Final = Path(__file__).parents[2] / "tests" / "wire" / "client" / "certificates"
_OWN: Final = _CERTIFICATES / "broker.pem"
_OTHER: Final = _CERTIFICATES / "other.pem"

_OPERATOR: Final = Credentials("rocketmq2", "12345678")
_STRANGER: Final = Credentials("stranger1", "12345678")

_PLAIN_ACL: Final = f"""accounts:
  - accessKey: {_OPERATOR.access_key}
    secretKey: {_OPERATOR.secret_key}
    admin: true
  - accessKey: {_STRANGER.access_key}
    secretKey: {_STRANGER.secret_key}
    admin: false
    defaultTopicPerm: DENY
    defaultGroupPerm: DENY
"""
_TLS_CONFIG: Final = f"tls.test.mode.enable=false\ntls.server.keyPath={_OWN}\ntls.server.certPath={_OWN}\n"
_OF_5: Final = "org.apache.rocketmq.auth"
_AUTH: Final = {
    "authenticationEnabled": "true",
    "authenticationProvider": f"{_OF_5}.authentication.provider.DefaultAuthenticationProvider",
    "authenticationMetadataProvider": f"{_OF_5}.authentication.provider.LocalAuthenticationMetadataProvider",
    "initAuthenticationUser": json.dumps({"username": _OPERATOR.access_key, "password": _OPERATOR.secret_key}),
    "authorizationEnabled": "true",
    "authorizationProvider": f"{_OF_5}.authorization.provider.DefaultAuthorizationProvider",
    "authorizationMetadataProvider": f"{_OF_5}.authorization.provider.LocalAuthorizationMetadataProvider",
}
_AUTH_CREATE_USER: Final = 3001
_TOPIC: Final = "Access"
_HALVES: Final = 300

_NEVER: Final = {"transactionTimeOut": "600000"}
"""Nothing is put back while messages are read; a first round makes 4.x let others pull the half topic."""
_SETTLED_S: Final = 3.0
"""So long the last op messages may take, as a batch is written each 200 ms here."""

Claim = tuple[str, bool]
"""What is to be so, with what was seen, and whether it is."""


def trials(version: str) -> Iterator[Claim]:
    """Start brokers of a release that take nobody without a key, and say of each claim whether it holds.

    One takes TLS alone, the other one none of it. Raises as `RealBroker`.
    """
    has_users = _generation(version) >= (5, 3)
    settings = {**_NEVER, **(_AUTH if has_users else {"aclEnable": "true"})}
    files = {"conf/plain_acl.yml": _PLAIN_ACL, "conf/tls.properties": _TLS_CONFIG}
    enforcing = {"tls.server.mode": "enforcing", "tls.config.file": f"{RUN}/conf/tls.properties"}
    with RealBroker(version, "access", settings, files=files, properties=enforcing) as broker:
        encrypted = replace(broker.address, tls=Tls.of(_OWN))
        operator = replace(encrypted, credentials=_OPERATOR)
        if has_users:
            _make_user(operator, _STRANGER)
        _send(operator)
        wrong = Credentials(_OPERATOR.access_key, "87654321")
        unknown = Credentials("nobody01", "12345678")
        yield _refused(broker.address, "closed the connection without a word: is it a port for TLS")
        yield _refused(replace(broker.address, tls=Tls.of(_OTHER)), "its certificate is not signed by one in")
        yield _refused(encrypted, "is refused with no access key: ")
        yield _refused(replace(encrypted, credentials=wrong), "; its secret key is another one there")
        yield _refused(replace(encrypted, credentials=unknown), "; have the broker's operator grant it")
        yield _refused(
            replace(encrypted, credentials=_STRANGER), f"for {HALF_TOPIC} is refused with access key stranger1"
        )
        if not _lets_op_topic_be_pulled(version):
            yield _refused(operator, "garble small messages over TLS", OP_TOPIC)
        for address in (operator, replace(operator, tls=Tls.of())):
            yield from _read(broker, address)
        broker.stop_broker()
        saved = read_consumer_offsets(broker.store)
        yield (
            f"of the stopped broker, {saved.source} has offsets of {', '.join(sorted(saved.table)) or 'nobody'}",
            saved.source is not None and not any(name.endswith(f"@{GROUP}") for name in saved.table),
        )
    disabled = {"tls.server.mode": "disabled"}
    with RealBroker(version, "access", settings, files=files, properties=disabled) as broker:
        operator = replace(broker.address, credentials=_OPERATOR)
        yield _refused(replace(operator, tls=Tls.of()), "it ends the connection where TLS begins")
        _send(operator)
        yield from _read(broker, operator)


def _generation(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))


def _lets_op_topic_be_pulled(version: str) -> bool:
    return _generation(version) >= (5, 0)


def _make_user(operator: Address, user: Credentials) -> None:
    asked = {"username": user.access_key, "password": user.secret_key, "userType": "Normal"}
    with BrokerChannel(operator) as channel:
        answer = channel.ask(_AUTH_CREATE_USER, {"username": user.access_key}, json.dumps(asked).encode())
    if answer.code != ResponseCode.SUCCESS:
        message = f"{operator}: a user is answered {answer.code}: {answer.remark}"
        raise WireError(message)


def _send(address: Address) -> None:
    """Send halves, and commit every second one; wait until their op messages are written."""
    with BrokerChannel(address) as channel:
        heartbeat(channel, "access", "access")
        for number in range(_HALVES):
            half = send_half(channel, "access", _TOPIC, f"{number:032}", b"x" * (number + 1))
            if number % 2:
                end_transaction(channel, "access", half, COMMIT)
    time.sleep(_SETTLED_S)


def _refused(address: Address, said: str, topic: str = HALF_TOPIC) -> Claim:
    """Whether reading a topic ends with these words."""
    try:
        with BrokerChannel(address) as channel:
            end_of_queue(channel, topic)
            list(QueueReader(channel).read([QueueStretch(topic, 0, 0, 1)]))
    except NoAnswerError as error:
        return f"refused: {error}", said in str(error)
    return f"not refused, and expected was: {said}", False


def _read(broker: RealBroker, address: Address) -> Iterator[Claim]:
    """Whether what is read is what the commit log has, and reading writes nothing into it."""
    with BrokerChannel(address) as channel:
        queues = [(HALF_TOPIC, 0), *((_TOPIC, number) for number in range(4))]
        if address.tls is None or _lets_op_topic_be_pulled(broker.version):
            queues.append((OP_TOPIC, 0))
        stretches = [QueueStretch(*queue, 0, end_of_queue(channel, *queue)) for queue in queues]
        before = _log_end(channel)
        read = list(QueueReader(channel, ByteRate(math.inf)).read(stretches))
        after = _log_end(channel)
    log = b"".join(read_bytes(path) for path in sorted((broker.store / "commitlog").iterdir()))
    places = [(place, body) for each in read for place, body in each.records()]
    wanted = sum(stretch.end for stretch in stretches)
    ends = ", ".join(f"{stretch.topic} {stretch.queue_id} to {stretch.end}" for stretch in stretches if stretch.end)
    yield f"{len(places)} of {wanted} messages are read ({ends})", len(places) == wanted > _HALVES
    yield "each as it stands in the commit log", all(log[place : place + len(body)] == body for place, body in places)
    yield f"the commit log still ends at {after}", before == after


def _log_end(channel: BrokerChannel) -> int:
    told = parse_json(channel.ask(RequestCode.GET_BROKER_RUNTIME_INFO).body)
    return int(told["table"]["commitLogMaxOffset"])
