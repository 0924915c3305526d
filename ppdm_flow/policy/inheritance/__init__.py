"""Policies that extend others: files, packages, built-in templates."""
