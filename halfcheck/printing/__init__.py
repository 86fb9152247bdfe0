"""What commands print: a file for each command, and the tables, sentences and live lines that several share."""
