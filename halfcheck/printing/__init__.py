"""What several commands print with: tables, sentences, live lines, and what Ctrl-C says."""
