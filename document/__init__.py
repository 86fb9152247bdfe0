"""Documents as sequences of records, and their three renderers: console, Markdown, HTML."""
