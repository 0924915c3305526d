"""The steward's page: sign in, load a table, say what its columns are, run, read, approve, release.

It writes the same YAML and the same runs as the command line, and whatever it changes is a verb of that.
"""
