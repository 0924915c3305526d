"""Finished runs and files of other tools, measured again."""
