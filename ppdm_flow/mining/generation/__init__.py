"""Generated tables: rows put together from the elements of a KRIMP code table.

Vreeken, van Leeuwen, Siebes, "Preserving privacy through data generation", ICDM 2007, section 4.
"""
