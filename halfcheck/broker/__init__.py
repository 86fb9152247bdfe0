"""What ``halfcheck broker`` does: options, serving, orders to a broker that runs, and what a run broke."""
