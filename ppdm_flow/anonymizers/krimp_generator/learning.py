"""From candidates to the code table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.krimp_generator.material import Material
from ppdm_flow.anonymizers.krimp_generator.spec import GeneratorParams
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compress import krimp, slim
from ppdm_flow.mining.krimp.progress import Progress
from ppdm_flow.sdk.anonymizer import StepContext

MOST_CANDIDATES = 20_000_000


@dataclass(frozen=True, slots=True)
class Learned:
    """``candidates`` were considered (SLIM: unions tried), ``removed`` ones filtered out before that."""

    table: CodeTable
    candidates: int
    removed: int


def learn(given: Material, least: int, params: GeneratorParams, ctx: StepContext) -> Learned:
    """Compress. Raises PluginError PPF775 or PPF776 where there is too much to look through."""

    def watch(progress: Progress) -> bool:
        if ctx.progress is not None:
            ctx.progress(progress.position, progress.candidates)
        return True

    database = given.items.database
    if params.algorithm == "slim":
        found = slim(database, least, pruning=params.pruning, watch=watch)
        return Learned(found.table, found.position, 0)
    mined = mine(database, least, only_closed=params.candidates == "closed", most=MOST_CANDIDATES).of_length(2)
    kept = mined.take(np.flatnonzero(~given.removal.hit(mined))) if given.removal.groups else mined
    found = krimp(database, kept.in_candidate_order(), pruning=params.pruning, watch=watch)
    return Learned(found.table, len(kept), len(mined) - len(kept))
