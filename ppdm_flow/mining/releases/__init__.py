"""Access to a release: its columns by the attributes they carry, its rows in SQL, and releases before it."""
