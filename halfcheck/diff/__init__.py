"""What ``halfcheck diff`` does: the two sides, and each way to hold them against each other."""
