"""Sweeps of ``halfcheck what-if``: what is asked, its simulations as a Spark job, and the answer in words and plots."""
