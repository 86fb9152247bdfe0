"""The parts of every generated module: text that `code_generation/compile.py` joins. Only `records.py` is imported."""
