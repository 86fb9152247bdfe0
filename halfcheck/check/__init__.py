"""What ``halfcheck check`` does: a search's answer, minimal sets of faults and repairs, comparisons, a broker.conf."""
