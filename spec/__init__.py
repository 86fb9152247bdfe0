"""The specification of RocketMQ's transactional messages: an executable state machine in plain Python.

- ``chapters/`` has the actions, ``properties/`` the guarantees, ``language/`` what a specification is written in.
- What several chapters ask: ``half.py`` of a half (its age, immunity, needDiscard, needSkip), ``op_pull.py`` of the op
  messages that a round has read (fillOpRemoveMap, checkPrepareQueueOffset), ``check_loop.py`` the order of the loop's
  questions, ``rounds.py`` a round's limits and the offsets at its end, ``half_queue.py`` writing a half.
- A world is fixed by ``profiles.py`` and ``switches.py`` (a version), ``faults.py`` (an environment) and
  ``instances/*.toml`` (sizes and times); ``constants.py`` joins them.
- ``state.py``, ``events.py`` and ``observation.py`` (what a trace shows), ``ghosts.py`` (what only properties read);
  ``forgetting.py`` and ``fairness.py`` for runs of any length; ``commit_log.py`` what of the log is on the disk.
"""
