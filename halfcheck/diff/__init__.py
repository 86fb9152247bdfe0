"""The two sides of ``halfcheck diff``, and each way to hold them against each other."""
