"""What ``halfcheck broker`` does beside serving: its options as a start, and what a run broke when it is over."""
