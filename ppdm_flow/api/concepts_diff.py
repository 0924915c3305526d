"""The page on what a change of a policy weakens."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import Concept

DIFF_CONCEPTS: Mapping[str, Concept] = {
    "diff": Concept(
        "Comparing policies",
        "what a change of a policy strengthens and weakens, clause by clause, each by a rule that proves it",
        "A policy is *at least as strict* as another if every release that satisfies it satisfies the other: original"
        " data that both can read, the files that leave, what the steps say of themselves (an operator), and the"
        " ledger. `ppdm-flow diff OLD NEW` says of every clause that it is\n\n"
        "- **stronger**: it implies the old clause, and the old policy does not imply it,\n"
        "- **weaker**: the other way round, also where a clause is gone that nothing else implies,\n"
        "- **incomparable**: no rule proves either,\n"
        "- **neutral**: names, spellings, steps and audits. Steps are means: what must hold is measured on what they"
        " made.\n\n"
        "The whole is `stricter` only if no clause is weaker or incomparable. Only theorems count: a larger k over more"
        " attributes; a lower confidence over a larger channel (Wang, Fung, Yu, Lemma 3.1); a smaller gamma of two"
        " pairs (r1, r2); distinct, entropy and recursive diversity over unions of classes; delta, which bounds beta,"
        " which bounds t. Null semantics matter: with `exclude`, classes over fewer attributes hold other rows, so that"
        " only the same attributes compare. A release fewer, a column that steps drop, a narrower audience, shuffled"
        " rows, a sealed key and a ledger are stricter; another way to read the data, a column more in it, or other"
        " steps for an identifier, which they alone protect, are incomparable. A release whose columns are computed"
        " from an attribute that it told nothing of, whatever they are called, or that left under a secret key only,"
        " is weaker.\n\n"
        "Not part of the order: the tolerance of comparisons (1e-9), the error probability of tests on bytes,"
        " data with look-alike spellings of a value that only one policy names. Floors and params are shown apart:"
        " they bind those who extend a policy or run it, and no release. Params count with the values that they"
        " have: for other ones, say `--set`. Besides, each choice of a param and both ends of what it takes are"
        " tried (for an open end, one value beyond; for free text, another one, the next numbers, and the names"
        " and words of the language that could stand there; the ends of up to six numbers all at once), each"
        " against the old policy with the nearest value that it took: a param that came, or takes more than it"
        " did, is weaker where such a value makes the policy so; where nothing that was tried for free text is"
        " taken, nothing is proved. Files that a policy names (a population, a hierarchy) are compared by content"
        " where both are there, else by path. Templates of packages are those that are installed now.\n\n"
        "`--forbid-weaker` ends with 1 unless every new policy is proved to be at least as strict: also where a clause"
        " is incomparable, since nobody has shown that it is not weaker, and where a floor asks for less than it did"
        " or a param can be given a value that weakens."
        " `REVISION:PATH` reads a policy with its"
        " templates from git. Folders are paired by path, what moved by `name`; where other policies went while others"
        " came, nothing is proved, but a policy that only came has nothing to be compared with. Two runs' directories"
        " are compared by their policies and figures. `--data FILE` measures both policies on one file with one key,"
        " and releases nothing.",
        "# ppdm-flow diff origin/main:policies policies --forbid-weaker\n"
        "privacy:\n  k_anonymity: {k: 5}      # was 7: weaker, whoever is among 7 is among 5",
    ),
}
