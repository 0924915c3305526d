"""Columns of numbers, dates and timestamps."""
