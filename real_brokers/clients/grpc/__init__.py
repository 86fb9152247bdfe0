"""One small client in each language that speaks gRPC, which sends and answers by order, and says what it gets.

An order is a line on stdin: ``send TOPIC KEY commit``, or ``rollback``, ``leave``, ``plain`` or ``late`` (which
commits half a second behind its first check) in place of that;
``renew``, on which those in Python, Go and Rust start anew; and ``end``. That in Python also takes ``commit KEY`` and
``rollback KEY`` for what was left, and ``answer commit``, ``rollback`` or ``unknown`` for all checks from then on.

An event is a line on stdout, of words with tabs between: ``ready``, ``checked KEY ANSWER``, ``consumed KEY ATTEMPT``,
``done ORDER`` and ``failed ORDER WHY``. ``checked-twice`` is committed at its second check, ``never-known`` never, all
else at the first; ``failing`` is taken at the second time, ``poison`` never. The check of ``throws`` throws, that of
``hangs`` does not return.
"""
