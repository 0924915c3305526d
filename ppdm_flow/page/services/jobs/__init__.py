"""Verbs of the command line that the server carries out: a queue, processes of their own, what they print."""
