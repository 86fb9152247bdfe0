"""``make protocol``: compiles the ``.proto`` files into the descriptors that the messages are made of."""

from __future__ import annotations

from files.writing import write_whole
from wire.proxy.protocol.descriptors import DESCRIPTORS, compiled

if __name__ == "__main__":
    write_whole(DESCRIPTORS, compiled())
