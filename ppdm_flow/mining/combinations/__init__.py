"""Combinations of codes that few owners have: found, and made frequent along a hierarchy of the codes."""
