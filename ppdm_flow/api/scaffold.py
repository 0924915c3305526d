"""A first policy, with data to run it on: nothing is downloaded."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import ppdm_flow
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

_ROWS = 240
_SEED = 7

_POLICY = """\
# What may leave the house, and what must hold before it does. Check it: ppdm-flow check policies/visits.yaml
version: 1
name: visits
description: Visits to a clinic, for a study of how illnesses and age go together
owner: data-protection@example.org

source:
  path: ../data/visits.csv

attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 30, 50, 70, 120]}}
  region: {role: quasi_identifier}
  illness: {role: sensitive}
  returned: {role: target}

privacy:
  # Nobody can be told from fewer than four others by age and region.
  k_anonymity: {k: 5}
  # Whoever gives an illness a chance beforehand must not come to more than four times that from a row.
  sensitivities:
    illness: {default: {tolerance: 4}}

steps:
  coarsen:
    use: generalize
    with: {attributes: [age]}
  perturb:
    use: fine_grain_perturbation
    with: {attribute: illness}

releases:
  study:
    path: visits.csv
    description: One row a visit, with illnesses perturbed
"""

_README = """\
# Release policies

| | |
|---|---|
| `policies/visits.yaml` | a first policy, on invented data |
| `data/visits.csv` | the data: replace it by yours, or pass another file with `--data` |

```
ppdm-flow check policies/
ppdm-flow plan policies/visits.yaml
ppdm-flow run policies/visits.yaml
```

Every run makes a directory of its own below `runs/`, with a report and, if every requirement holds, the release.
Real data does not belong into a repository: `.gitignore` leaves out `data/` (but for the invented table), `runs/` and
`sweeps/`.
"""

_IGNORE = """\
data/*
!data/visits.csv
runs/
sweeps/
"""

_WORKFLOW = """\
name: release policies
on: [push, pull_request]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.11"}
      - run: pip install ppdm_flow==VERSION  # the version that you reviewed
      - run: ppdm-flow check policies/ --strict
"""

_REGIONS = ("coast", "hills", "town", "valley")
_ILLNESSES = ("asthma", "back pain", "diabetes", "flu", "injury", "migraine")


def init(folder: Path) -> tuple[Path, ...]:
    """Write a policy, its data, a README and a workflow into ``folder``. Raises UsageError rather than overwrite."""
    files = contents()
    taken = [folder / name for name in files if (folder / name).exists()]
    if folder.exists() and not folder.is_dir():
        raise UsageError(Diagnostic("PPF695", f"`{folder}` is a file"))
    if taken:
        text = f"`{taken[0]}` is there already: nothing was written"
        raise UsageError(Diagnostic("PPF695", text, help="give another folder"))
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise UsageError(Diagnostic("PPF693", f"cannot write into `{folder}`: {type(error).__name__}")) from None
    return tuple(folder / name for name in files)


def contents() -> Mapping[str, str]:
    """Return the files by their names in the folder."""
    return {
        "policies/visits.yaml": _POLICY,
        "data/visits.csv": _table(),
        "README.md": _README,
        ".gitignore": _IGNORE,
        ".github/workflows/policies.yml": _WORKFLOW.replace("VERSION", ppdm_flow.__version__),
    }


def _table() -> str:
    """Return invented visits: older people have other illnesses, and return more often."""
    dice = random.Random(_SEED)  # noqa: S311  # an invented table, the same on every machine
    lines = ["patient,age,region,illness,returned"]
    for number in range(_ROWS):
        age = dice.randint(18, 89)
        weights = (3, 4, 1 + age // 20, 5, 3, 3)
        illness = dice.choices(_ILLNESSES, weights)[0]
        returned = "yes" if dice.random() < 0.1 + age / 150 else "no"
        lines.append(f"P{number:04},{age},{dice.choice(_REGIONS)},{illness},{returned}")
    return "\n".join(lines) + "\n"
