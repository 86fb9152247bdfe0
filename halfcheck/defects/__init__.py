"""What ``halfcheck defects`` prints."""
