"""One folder a question: its result, command, panel and section of reports."""
