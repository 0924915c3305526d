"""How many rows of a table occur in another one, by their supports in both.

Vreeken, van Leeuwen, Siebes, "Preserving privacy through data generation", ICDM 2007: the Anonymity Score, and
minsup in the role of k. Rows are compared as wholes; what is kept of each is a fingerprint of 16 bytes and its weight.
"""
