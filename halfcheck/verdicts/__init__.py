"""What ``halfcheck verdicts`` writes: the table's files, its page and its drawing."""
