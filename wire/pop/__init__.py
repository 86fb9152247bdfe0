"""POP consumption in the broker: messages are handed out by receipt, hidden for a while, and come again without an ack.

``PopMessageProcessor``, ``AckMessageProcessor``, ``ChangeInvisibleTimeProcessor`` and ``PopReviveService``, in the
broker's time. What is handed out is known in memory only: there are no check points in the revive topic, no
``PopBufferMergeService``. A process that dies forgets it, and the next one hands out all that is behind the group's
saved offset again, at once; what came back before stands in the group's retry topic and is kept.
"""
