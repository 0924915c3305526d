"""Linked tables in a run: read with whole keys, released each by its own plan, judged alone and together."""
