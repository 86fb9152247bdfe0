"""The compiled form of the ``.proto`` files: where it lies, and how it is made."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from files.reading import read_bytes
from wire.errors import WireError

DESCRIPTORS: Final = Path(__file__).with_name("service.binpb")

_SERVICE: Final = "apache/rocketmq/v2/service.proto"


def compiled() -> bytes:
    """The descriptors of the service and of all that it imports; `WireError` if the compiler refuses the files."""
    from grpc_tools import protoc

    folder, own = DESCRIPTORS.parent, Path(protoc.__file__).parent / "_proto"
    with TemporaryDirectory() as temporary:
        out = Path(temporary) / DESCRIPTORS.name
        arguments = ["protoc", f"-I{folder}", f"-I{own}", "--include_imports", f"--descriptor_set_out={out}", _SERVICE]
        if protoc.main(arguments) != 0:
            message = f"{folder / _SERVICE}: the compiler refuses it, as it says above"
            raise WireError(message)
        return read_bytes(out)
