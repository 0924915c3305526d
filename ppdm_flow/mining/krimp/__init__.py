"""KRIMP and SLIM: code tables of itemsets that compress a database, after the minimum description length principle.

Vreeken, van Leeuwen, Siebes, "Krimp: mining itemsets that compress", DMKD 23 (2011); Smets, Vreeken, "Slim: directly
mining descriptive patterns", SDM 2012.
"""
