"""The release ledger: earlier releases and their people, as keyed hashes, in a file or in PostgreSQL."""
