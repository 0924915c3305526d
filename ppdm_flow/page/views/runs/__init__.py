"""Runs: begun from a policy, listed, read, compared, verified; sweeps; what to change where one is withheld."""
