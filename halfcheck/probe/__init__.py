"""What ``halfcheck probe`` does beside playing: its options, its judgement, and how it replays on real brokers."""
