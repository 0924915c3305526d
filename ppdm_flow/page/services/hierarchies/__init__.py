"""Hierarchies that somebody is making: counts of a column's values, intervals, groups of groups."""
