"""The parts of every generated module, as text: nothing imports them, and `code_generation/compile.py` joins them."""
