"""A release as it can be asked: its columns by the attributes they carry, its rows in SQL, and releases before it."""
