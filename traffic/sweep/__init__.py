"""Sweeps: settings of a broker and of its workload over grids and samples, releases side by side, and what to change.

`swept_setting.py` reads what is swept, `points.py` makes the points of it and the simulations of each. Those of one
place are simulated with one seed in all points, so that `differences.py` can pair them; `sweep_answer.py` is the whole,
with the points that no other one beats.
"""
