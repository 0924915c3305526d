"""What was released about whom before, as keyed hashes, in a file or in PostgreSQL."""
