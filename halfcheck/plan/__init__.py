"""What may be done about the halves of a running broker: a plan of exact requests, and its sending, one by one.

A plan is a file that somebody reads and decides about. It is sent only as it was shown, to the broker that it was made
for, and each of its requests only as long as what it rests on is still so.
"""
