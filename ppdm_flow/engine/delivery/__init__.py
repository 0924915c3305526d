"""Releases that become tables of databases."""
