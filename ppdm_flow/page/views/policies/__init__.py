"""Policies: listed, written, compared, explained."""
