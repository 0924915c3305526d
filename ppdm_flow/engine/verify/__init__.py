"""Measures finished runs and files of other tools again."""
