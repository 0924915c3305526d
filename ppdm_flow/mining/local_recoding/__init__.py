"""Local recoding: partitions of the table, each with labels of its own (Mondrian), and groups of records (MDAV)."""
