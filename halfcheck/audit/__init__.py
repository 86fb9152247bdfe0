"""What ``halfcheck audit`` does beside its options."""
