"""Frequent and closed frequent itemsets of coded tables and of transactions, in flat arrays.

Nothing here makes a Python object for each row or itemset: databases are matrices of item numbers and packed bit
vectors, results are offsets, items and supports.
"""
