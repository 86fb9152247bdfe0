"""The HTML report: one self-contained page, made from plain data (``data.ReportData``) by ``page.write``."""
