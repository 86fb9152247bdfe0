"""Engines that read the specification, and the answers that are made of what they find.

- Engines: ``cpython.py`` is slow and obvious, and judges the others; ``explicit/`` is the fast search; ``symbolic/``
  asks Z3; ``tla/`` writes modules for TLC. ``front_end/`` reads ``spec/`` as terms for the last three.
- ``world.py``, ``question.py`` and ``finding.py`` are what is asked and found; ``check.py`` asks one engine
  (``engines.py``) one question, ``answers/`` asks many, and makes an answer of their findings.
- ``broker_conf/``, ``comparison/``, ``coverage_matrix.py``, ``defects/``, ``liveness/``, ``any_length.py`` and
  ``verdicts/`` each answer a larger question; ``wording/`` and ``remedies/`` say what an answer means and what to do.
- ``trace_validation/`` finds a path of the specification through a broker's records, ``walks/`` takes random ones.
"""
