"""Workloads fitted to stores: what a store shows of its traffic, estimates with standard errors, and their file."""
