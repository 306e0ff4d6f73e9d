"""The document browser of the report: what was asked and said, packed for the page that shows it."""
