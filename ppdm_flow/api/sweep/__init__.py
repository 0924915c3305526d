"""Runs over a grid of params."""
