"""The classes of the messages, the enumerations and the calls, made of the compiled descriptors.

They live in a pool of their own, so that a gRPC client in the same process, which brings the same names in a version
of its own, is not in the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from files.reading import read_bytes
from wire.proxy.protocol.descriptors import DESCRIPTORS

PACKAGE: Final = "apache.rocketmq.v2"
SERVICE: Final = f"{PACKAGE}.MessagingService"

_pool = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(read_bytes(DESCRIPTORS)).file:
    _pool.Add(_file)


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


def _enumeration(name: str) -> Any:
    values = _pool.FindEnumTypeByName(f"{PACKAGE}.{name}").values
    return IntEnum(name, {value.name: value.number for value in values})


@dataclass(frozen=True, slots=True)
class GrpcCall:
    """A call of the service."""

    name: str
    request: Any
    response: Any
    """The classes of its messages."""
    streams_requests: bool
    streams_responses: bool


CALLS: Final[dict[str, GrpcCall]] = {
    each.name: GrpcCall(
        each.name,
        _class(each.input_type.name),
        _class(each.output_type.name),
        each.client_streaming,
        each.server_streaming,
    )
    for each in _pool.FindServiceByName(SERVICE).methods
}
"""By name."""

AckMessageResultEntry: Final = _class("AckMessageResultEntry")
Address: Final = _class("Address")
Assignment: Final = _class("Assignment")
Broker: Final = _class("Broker")
Endpoints: Final = _class("Endpoints")
Message: Final = _class("Message")
MessageQueue: Final = _class("MessageQueue")
RecoverOrphanedTransactionCommand: Final = _class("RecoverOrphanedTransactionCommand")
Resource: Final = _class("Resource")
SendResultEntry: Final = _class("SendResultEntry")
Settings: Final = _class("Settings")
Status: Final = _class("Status")
SystemProperties: Final = _class("SystemProperties")
TelemetryCommand: Final = _class("TelemetryCommand")

AddressScheme: Final = _enumeration("AddressScheme")
ClientType: Final = _enumeration("ClientType")
Code: Final = _enumeration("Code")
DigestType: Final = _enumeration("DigestType")
Encoding: Final = _enumeration("Encoding")
FilterType: Final = _enumeration("FilterType")
MessageType: Final = _enumeration("MessageType")
Permission: Final = _enumeration("Permission")
TransactionResolution: Final = _enumeration("TransactionResolution")
TransactionSource: Final = _enumeration("TransactionSource")
