"""The workload: a TOML file of rates, distributions and mishaps, read and held against what can be.

`defaults.toml` is the one place of the figures that a file may leave out, each with its source. What has no source has
no default: `reading.py` asks for it.
"""
