"""What ``halfcheck defects`` does: what its words ask for, and finding it again."""
