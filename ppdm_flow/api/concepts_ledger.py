"""Pages on the release ledger and on what is asked of successive releases."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import REQUIREMENTS, Concept

LEDGER_CONCEPTS: Mapping[str, Concept] = {
    "cumulative_k": Concept(
        REQUIREMENTS,
        "the releases of a run, and all earlier ones of a ledger, together leave groups of at least `k` people",
        "Somebody who is known to be in one class of an earlier release and in another class of this one is among"
        " those in both: each release may be k-anonymous, and their intersection hold one person (Ganta,"
        " Kasiviswanathan, Smith, KDD 2008). People are alike if they are in the same class of every release, or"
        " absent from it alike, so that who came or left in between is found as well, by the difference of two"
        " releases. The other releases of the same run count too, and they alone without a `ledger` (each row of the"
        " source is a person then). It is assumed that others hold every release of the"
        " ledger, whatever its audience, and know of somebody the class in each and whether they are in it at all; a"
        " missing value is one of its own. A person with several rows counts once. Where a `ledger` knows people and"
        " `k_anonymity` is asked for, the same k is asked here, unless `cumulative_k` says otherwise. It is about who"
        " is who; what is asked of values (`l_diversity`, `t_closeness`, `alpha_k`, `delta_disclosure`,"
        " `beta_likeness`) has to hold inside of the same groups too, judged by the values that this release shows of"
        " their members: figures such as `privacy.l_diversity.disease.cumulative_l`. Values of people who are missing"
        " from this release are in no ledger, and are not judged. People are found again by the text of the ledger's"
        " `subject`, but for what its `ignore` names: a person whose identifier changes is another one. Figures:"
        " `privacy.cumulative_k.k` (the smallest group, in people), `k_present` and `k_gone` (among those in this"
        " release, and missing from it).",
        "ledger: {path: releases.ledger, subject: patient}\nprivacy:\n  k_anonymity: {k: 10}\n  cumulative_k: {k: 5}",
        why="Two releases that are safe alone can tell one person from all others together.",
        formula="min over groups of people who are in the same class of every release, or absent alike, of their"
        " number >= k.",
        reference="Ganta, Kasiviswanathan, Smith, Composition attacks and auxiliary information in data privacy, KDD"
        " 2008",
        bad="ledger: {path: releases.ledger}   # without `subject` nobody can be followed from release to release\n"
        "privacy:\n"
        "  cumulative_k: {k: 5}",
        fix="Release the same classes as before, or coarser ones; or release to people who cannot have the"
        " earlier file, under a ledger of its own.",
    ),
    "ledger": Concept(
        "Sections of a policy",
        "what was released about whom, in a file or database; new releases are held against it",
        "An SQLite file (`path`), or a database in PostgreSQL (`url`), the same one for all policies that release"
        " data of the same people. It holds of each release its policy, audience, time, digests, columns, and who is"
        " in which class, as HMAC-SHA256 of the attribute `subject` (an identifier, which is not released) and of the"
        " classes; no values. The key lies in a file of its own, readable by its owner only (`key`; beside `path`,"
        " with `.key` added, if left out): keep it out of repositories, and copies of both together. A release is"
        " written down before it is out, and confirmed after: a run that dies in between leaves a pending entry,"
        " which counts as released until `ppdm-flow ledger LEDGER --repair` settles it: it confirms what is"
        " published, and drops what its run never published. A ledger is made once, with `ppdm-flow ledger LEDGER"
        " --create`: without a whole ledger and its key nothing is released. Its entries are chained by hashes that"
        " need the key, so that one which is changed, moved or taken out is found and named (PPF912). That the whole"
        " is an older copy a chain cannot show: each run's manifest names the last entry that it saw, a run looks at"
        " those beside it (PPF913), and `ppdm-flow ledger LEDGER --runs FOLDER` at all below a folder. Nothing shows"
        " it once all later runs are gone, nor against somebody who has the key. Ids of people are compared without"
        " case, blanks around them, and Unicode form (NFKC, so full-width digits are digits), unless `ignore` names"
        " fewer: a person is never taken for two by a spelling, and two for one can only withhold more. All policies"
        " with one ledger have to say the same (PPF914). `repeat: refuse` (the default) withholds attributes with a"
        " bound on randomization (`sensitivities`, `itemset_breach`) that were released before, randomized or not, of"
        " any of the same people: two draws tell more than either may. Without a `subject` all releases are taken to"
        " be about the same people. All releases are combined, whatever their audience: recipients pass data on,"
        " merge, and lose it, and nobody can take back what two of them put together. Whoever counts audiences apart,"
        " with a ledger for each, answers for it that they never meet.\n\nIn PostgreSQL (`pip install"
        " 'ppdm_flow[sql]'`) the tables are in the schema `ppdm_flow`, made by `ppdm-flow ledger URL --key FILE"
        " --create`; all machines need the same key file. A run keeps others away, by an advisory lock, from reading"
        " what was released until its own is written down, in one transaction: if the connection breaks, nothing is"
        " released. The password is that of PGPASSWORD or `~/.pgpass`, never one in a policy. The connection is"
        " encrypted unless the server is on the same machine; `?sslmode=verify-full` in the URL makes sure whose"
        " server it is.",
        "ledger:\n  path: releases.ledger\n  key: /secure/releases.key\n  subject: patient",
    ),
}
