"""What the figures of `krimp_generator` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "min_support": FigureInfo(
        "the least support, in rows, of the itemsets that the generator may learn", better="higher"
    ),
    "candidates": FigureInfo("the itemsets that the search for a code table looks at, beside single values"),
    "code_table_itemsets": FigureInfo(
        "the itemsets of two values or more that the code table uses: what its rows are made of"
    ),
    "bits_before": FigureInfo(
        "the size of the original and of a code table of single values", formula="L(D | ST) + L(ST)"
    ),
    "bits_after": FigureInfo(
        "the size of the original and of the code table that was found", formula="L(D | CT) + L(CT)", better="lower"
    ),
    "compression": FigureInfo(
        "how much of the size is left: the lower, the more structure was found, and the more of"
        " it is in the generated rows",
        formula="L% = (L(D | CT) + L(CT)) / L(D | ST)",
        better="lower",
    ),
    "itemsets_per_row": FigureInfo(
        "how many elements of the code table a generated row is made of, on average: at 1, rows"
        " are copies of itemsets as long as a row",
        better="higher",
    ),
    "learned_rows": FigureInfo("the rows of the original that the generator learned from"),
    "holdout_rows": FigureInfo("the rows that it did not learn from: the control group of attacks"),
    "removed_candidates": FigureInfo("the itemsets that `remove` took away before the search"),
    "removed_dependence": FigureInfo(
        "the largest association that generated rows have between two attributes that `remove` names together",
        formula="max over pairs of Cramér's V = sqrt(chi^2 / (n min(r - 1, c - 1))); values that the"
        " entry does not name are taken as one",
        better="lower",
    ),
    "removed_dependence_before": FigureInfo("the same association in the original", formula="the same"),
    "rejected": FigureInfo(
        "the share of drafts that `blend: strict` rejects and draws anew",
        formula="rejected drafts / drafts",
        better="lower",
    ),
    "rejection_distance": FigureInfo(
        "how far that moves the shares of single attributes",
        formula="the mean over attributes of the total variation distance, 1/2 sum |p - q|, of all"
        " drafts and of those that pass",
        better="lower",
    ),
}
