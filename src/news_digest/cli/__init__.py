"""The command line: builds the edges, prints the report, returns an exit code."""
