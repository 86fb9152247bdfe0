"""The same small scenario for clients that speak gRPC: in Python and in Java, with what each got as one line of JSON.

Each sends transactions that are committed, rolled back, left to a check, never known and lost on the way, and plain
messages that its consumer takes at once, at the second time, or never.
"""
