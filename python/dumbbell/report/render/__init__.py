"""A report's output: the HTML page, figures by matplotlib, and CSV."""
