"""Half, op and check: the two transaction services and what they use (``broker.transaction``).

``check_round.py`` is the loop of ``check()`` with all its questions, put-backs and offsets;
``transactional_message_service.py`` is what END_TRANSACTION does; the bridge writes and reads op messages.
"""
