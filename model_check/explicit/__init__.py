"""The explicit search: states packed into 64-bit words, code generated from the specification, compiled by LLVM.

``code_generation/`` writes what is different for each machine, ``kernel_texts/`` has what is the same for all,
``state_store/`` owns the memory. docs/large-searches.md draws the way of one level through these files.
"""
