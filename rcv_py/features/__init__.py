"""One folder a question: its manifest, options, result, command, panel and section of reports."""
