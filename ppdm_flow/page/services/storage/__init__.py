"""Where the page keeps accounts, sessions, its journal and jobs: one SQLite file."""
