"""The probe: plays a schedule of the specification on a running broker by a client's requests, and reads the result.

``staging.py`` says what each action is to a client, ``orders.py`` what a schedule comes to, ``player.py`` carries it
out in the ``rhythm.py`` of the broker's rounds, ``view.py`` reads what was written.
"""
