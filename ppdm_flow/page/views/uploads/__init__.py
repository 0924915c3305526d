"""Uploading tables, and removing them."""
