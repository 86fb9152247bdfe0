"""What is said to a reader, as records, and the three ways to show it: on the console, as Markdown, as HTML."""
