"""Randomized transactions: operators, estimates from their output, and the privacy that it gives away.

Evfimievski, Srikant, Agrawal, Gehrke (KDD 2002): every basket is randomized on its own by a public operator, supports
of itemsets are estimated from the randomized baskets, and the breach level bounds what one of them reveals of a basket.
"""
