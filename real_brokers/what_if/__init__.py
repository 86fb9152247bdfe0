"""Real brokers under the traffic of a workload, and the same measures of `halfcheck what-if` beside theirs.

`workloads/` has what is sent and `trials.py` on which settings; `led_traffic.py` sends it to a real broker, whose run
`real_run.py` leads and keeps. `measures.py` measures audited stores, those of real brokers and simulated ones alike;
`simulated_runs.py` simulates the run again and again. `advised_settings.py` asks a sweep which settings to change, and
does that on a real broker. What was seen is in `seen.toml` and `advice.toml`, and `page.py` writes it.
"""
