"""The command line.  Starts without Qt."""
