"""The HTML report: one self-contained page, made by ``page.write`` from the records of what it shows."""
