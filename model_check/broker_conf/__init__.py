"""A broker's real settings: their times as ticks, a search, and each violation taken again in milliseconds.

``ticks.py`` makes an instance of a configuration, ``timed_path.py`` gives steps their milliseconds, ``judgement.py``
asks several sizes, ``suggestions.py`` says what to change.
"""
