"""From a machine in an instance to code that runs: packed states, LLVM's text, and what is compiled already.

``packing.py`` lays a state out, ``emit.py`` writes the functions that the kernels call, ``native.py`` makes machine
code of them, ``compile.py`` joins both. Why text: docs/decisions/0007-llvm-as-text.md.
"""
