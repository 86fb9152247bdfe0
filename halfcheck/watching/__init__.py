"""The watch of ``halfcheck audit --watch``: at each look only what came since the last one is read, all open is judged.

`sources.py` reads a broker or a growing store; `memory.py` has the records of open transactions, and of settled ones
where their records stand; `watch.py` looks, by the audit that all stores get, and `tally.py` goes through its rows;
`news.py` are the things that it reports, `metrics.py` shows them to Prometheus.
"""
