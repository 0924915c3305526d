"""What ``check`` of a repository costs: policies like ``pipelines/hospital.yaml`` that each extend 2 of 10 templates.

    python tests/benchmarks/check.py [--policies 10,50,100,500,1000] [--json FILE]

Each row is one process, ``ppdm-flow check policies/``, timed from start to exit, with what it writes; ``ratio`` is its
time over that of a check of one policy. Half of the policies give a template values of their own.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measuring import ROOT, Row, Sheet, best, flow

TEMPLATES = 10
REPEATS = 3

TEMPLATE = """\
description: What every release of house {n} has to meet
params:
  k{n}: {{type: integer, default: 10, min: 5, max: 100, help: how many people share a class}}
  channel{n}: {{type: list, default: [age, sex, region], help: what others may know}}
nulls: own_category
privacy:
  k_anonymity: {{k: 10}}
  templates:
    house-{n}:
      channel: ${{params.channel{n}}}
      sensitive: {{payment: [charity]}}
      confidence: 0.{n}5
gates:
  house-{n}: {{metric: readmission.error_increase, max: 0.02}}
floors:
  privacy.k_anonymity.k: ">= 5"
  privacy.templates.*: present
  attributes.*.role: not weaker
  undeclared: is error
  releases.*.audience: one of [internal, partner]
"""


def repository(folder: Path, policies: int) -> Path:
    """Write a repository of templates and policies, and return its folder."""
    templates = folder / "templates"
    (folder / "policies").mkdir(parents=True)
    templates.mkdir()
    for n in range(TEMPLATES):
        (templates / f"house{n}.yaml").write_text(TEMPLATE.format(n=n), encoding="utf-8")
    body = (ROOT / "pipelines" / "hospital.yaml").read_text(encoding="utf-8")
    for i in range(policies):
        one, other = i % TEMPLATES, (i + 1 + i // TEMPLATES % (TEMPLATES - 1)) % TEMPLATES
        given = f", with: {{k{other}: {10 + i % 7}}}" if i % 2 else ""
        extends = f"extends:\n  - ../templates/house{one}.yaml\n"
        extends += f"  - {{template: ../templates/house{other}.yaml{given}}}\n"
        text = body.replace("name: hospital\n", f"name: hospital-{i}\n{extends}", 1)
        (folder / "policies" / f"hospital-{i:04}.yaml").write_text(text, encoding="utf-8")
    return folder


def rows(sizes: list[int]) -> Iterator[Row]:
    """Yield one row for each number of policies, the fastest of some repeats; the first is the baseline."""
    base = 0.0
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = repository(Path(name), size)
            spent = best(REPEATS, *flow("check", "policies"), cwd=folder)
        base = base or spent.seconds
        yield Row(f"check.{size}", size, spent.seconds, spent.peak_mb, "one policy", spent.seconds / base, spent.cpu)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--policies", default="10,50,100,500,1000")
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet(wide=14)
    sheet.head()
    for row in rows([1, *map(int, chosen.policies.split(","))]):
        sheet.add(row)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
