"""What other tools read: traces, profiles, tables, and reports for people.  Writes, never computes costs."""
