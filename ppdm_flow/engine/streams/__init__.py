"""Rows as partitions: read, coded, ordered, counted, and asked by audits in SQL."""
