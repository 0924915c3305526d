"""What the figures of `full_domain_recoding` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "cost": FigureInfo(
        "what the chosen levels cost by the step's `cost`, suppressed rows included",
        formula="loss: the geometric mean over attributes of 1 + the mean share of the domain that a"
        " cell stands for (0 for a value, 1 for a suppressed cell), minus 1; precision: the mean"
        " over cells of level / height, suppressed ones 1; discernibility: sum of |C|^2, and all"
        " rows for each suppressed one; average_class_size: rows / classes, all suppressed ones"
        " as one class; entropy: the share lost of the bits sum log2(n / n(value)) over cells;"
        " classification: the share of rows that are suppressed or outside of their class's"
        " majority",
        better="lower",
        reference="Iyengar, KDD 2002 (loss, classification); Sweeney, 2002 (precision); Bayardo, Agrawal,"
        " ICDE 2005 (discernibility); LeFevre, DeWitt, Ramakrishnan, ICDE 2006 (average class"
        " size); Gionis, Tassa, TKDE 2009 (entropy)",
    ),
    "suppressed_rows": FigureInfo(
        "the rows of classes that break a requirement at the chosen levels: they are not released", better="lower"
    ),
    "suppressed_rows_share": FigureInfo("their share of all rows", formula="suppressed rows / rows", better="lower"),
    "classes": FigureInfo("the equivalence classes that are released", better="higher"),
    "lattice_nodes": FigureInfo(
        "the ways to give every attribute a level", formula="product over attributes of their numbers of levels"
    ),
    "nodes_checked": FigureInfo(
        "those of them that were looked at; all others cannot be better, if the optimum is proven", better="lower"
    ),
    "optimum_proven": FigureInfo(
        "1 where no other levels cost less, 0 where the search was ended before that was known", better="higher"
    ),
    "level": FigureInfo("how many levels an attribute was generalized; 0 are its values themselves", better="lower"),
}
