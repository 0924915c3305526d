"""One case as text: policy, table, releases, and both sides' figures."""

from __future__ import annotations

from collections.abc import Callable

import yaml

from adversary.judging import expected as of_groups
from adversary.lineage import released
from adversary.oracle import Judged, refusals
from adversary.policies import Case
from adversary.trial import Tried, attempt


def shown(case: Case, expected: Callable[[Case, Tried], list[Judged]] = of_groups) -> str:
    """Return everything about a case, to look at."""
    tried = attempt(case)
    lines = [yaml.safe_dump({k: v for k, v in case.policy.items() if k != "attributes"}, sort_keys=False)]
    lines += [f"{i:3d} {row}" for i, row in enumerate(case.rows)]
    lines.append(f"verdict: {tried.verdict} {' '.join(tried.codes)}")
    lines += [f"to be refused: {why}" for why in refusals(case.policy, released(case.policy))]
    for name, release in (tried.releases or {}).items():
        lines.append(f"release {name}")
        lines += [
            f"    {c.name}: computed from {sorted(c.computed)}, alone {c.alone}" for c in release.columns.values()
        ]
        lines += [f"{o:3d} {dict(c)}" for o, c in zip(release.origins, release.cells, strict=True)]
    lines += [f"engine {r.release} {r.metric} {r.measured} {r.bound} {r.passes}" for r in tried.judged]
    lines += [f"oracle {j.release} {j.metric} {j.measured} {j.bound} {j.holds}" for j in expected(case, tried)]
    return "\n".join(lines)
