"""Plugins made from what a plan says: readers, writers and algorithms."""
