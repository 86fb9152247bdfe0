"""HTTP/2 as a gRPC server needs it (RFC 9113, RFC 7541): frames, header blocks, flow control, and limits on each.

It knows nothing of gRPC. Of the protocol it leaves out what no gRPC client uses: pushed streams, priorities and TLS.
"""
