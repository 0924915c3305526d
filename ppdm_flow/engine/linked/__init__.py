"""Runs of linked tables: keys are checked, each table is released by its own plan, and all are judged together."""
