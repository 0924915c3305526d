"""The engine of one machine: rows in partitions, in memory where they fit, on a few threads."""
