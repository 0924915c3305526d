"""Randomized transactions: operators, what can be recovered from their output, and what it gives away.

Evfimievski, Srikant, Agrawal, Gehrke (KDD 2002): every basket is randomized on its own by a public operator, supports
of itemsets are estimated from the randomized baskets, and the breach level bounds what one of them tells of a basket.
"""
