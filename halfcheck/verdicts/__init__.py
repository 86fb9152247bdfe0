"""The files of the table of verdicts that ``halfcheck verdicts`` writes, its page and its drawing."""
