"""The compiled descriptors are those of the ``.proto`` files, and are in no client's way."""

from __future__ import annotations

from google.protobuf import descriptor_pb2, descriptor_pool

from files.reading import read_bytes
from wire.proxy.protocol.descriptors import DESCRIPTORS, compiled
from wire.proxy.protocol.messages import CALLS, Code, Message


def files_in(raw: bytes) -> dict[str, descriptor_pb2.FileDescriptorProto]:
    return {file.name: file for file in descriptor_pb2.FileDescriptorSet.FromString(raw).file}


def test_the_descriptors_are_those_of_the_proto_files() -> None:
    ours = {name for name in files_in(compiled()) if name.startswith("apache/")}
    assert len(ours) == 2
    assert {name: files_in(compiled())[name] for name in ours} == {
        name: files_in(read_bytes(DESCRIPTORS))[name] for name in ours
    }


def test_a_client_in_the_same_process_may_bring_another_version_of_the_same_names() -> None:
    theirs = descriptor_pb2.FileDescriptorProto(name="definition.proto", package="apache.rocketmq.v2")
    theirs.message_type.add(name="Message").field.add(name="other", number=1, type=9, label=1)
    descriptor_pool.Default().Add(theirs)
    assert "system_properties" in Message.DESCRIPTOR.fields_by_name


def test_calls_and_codes_have_their_names() -> None:
    assert len(CALLS) == 17
    assert CALLS["ReceiveMessage"].streams_responses
    assert not CALLS["ReceiveMessage"].streams_requests
    assert (Code.OK, Code(50001).name) == (20000, "INTERNAL_SERVER_ERROR")
