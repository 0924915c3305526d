"""Streams of partitions: read, coded, ordered, counted, and queried by audits in SQL."""
