"""A brute-force reader of released files, after section 6a of the design, for tables of at most twelve rows.

``files`` describes what was released, ``showing`` what cells can show, ``chances`` which rows belong together,
``guesses`` who a row may be and how likely, ``view`` the groups that a requirement is judged on, ``figures`` the
figures of these groups. None of these imports anything of the product.

The product is held against it in ``runs``: ``policies`` draws policies and tables, ``product`` carries them out,
``twins`` finds what the cells of a step carry, and ``lineage`` composes that over the steps of a policy.
"""
