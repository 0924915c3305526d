"""Held runs: what waits for me, signing, releasing."""
