"""Held runs: what they wait for, and who may give it."""
