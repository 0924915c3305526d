"""Frequent itemsets, code tables and estimators: a library, no plugin."""
