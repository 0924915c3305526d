"""The steward's page: sign in, load a table, say what its columns are, run, read, approve, release.

It writes the same YAML and the same runs as the command line, and makes every change by one of its verbs.
"""
