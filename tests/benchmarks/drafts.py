"""What drafted policies keep of real tables, beside the best that other steps keep under the same requirements.

    python tests/benchmarks/drafts.py TABLE... [--name PART] [--json FILE]

``ppdm-flow profile`` drafts a policy of each table, which runs as it stands. Then its requirements stay, k of
k-anonymity is 5, and the step that recodes is replaced: `mondrian`, strict and relaxed, with and without hierarchies,
and `full_domain_recoding`. Hierarchies are made here (of numbers 32 intervals of one width, joined by twos; of dates
months to decades; else those of the draft), or are files beside the table whose names end in
``_hierarchy_COLUMN.csv``. The best of them by ``information_kept`` is the yardstick.

The word ``heart`` in place of a path is an invented table like the well-known one of heart disease. A path may be
followed by ``@`` and the names of its columns, with commas between. ``--name`` measures only steps with this in their
names.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import yaml
from measuring import machine

from ppdm_flow import api
from ppdm_flow.api.profile.data import TextOptions, columns, look, without
from ppdm_flow.core.errors import PpdmError

K = 5
GOAL = 0.9
COLUMN_GOAL = 0.5
MOST_NODES = 2_000
Policy = dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """What a policy keeps of a table: in all, and of each column; None where it is not compared."""

    step: str
    verdict: str
    seconds: float
    mean: float | None = None
    columns: Mapping[str, float | None] | None = None


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("tables", nargs="+", metavar="TABLE")
    words.add_argument("--name", default="")
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    print(machine())
    every = {}
    with tempfile.TemporaryDirectory() as folder:
        for word in chosen.tables:
            path, _, names = word.partition("@")
            data = _heart(Path(folder)) if path == "heart" else Path(path).absolute()
            every[word] = measure(data, tuple(names.split(",")) if names else None, Path(folder), chosen.name)
    if chosen.json:
        chosen.json.write_text(json.dumps({t: [asdict(k) for k in kept] for t, kept in every.items()}, indent=1) + "\n")
    met = [_meets(kept) for kept in every.values()]
    print(f"{sum(met)} of {len(met)} drafts keep {GOAL:.0%} of the best, and of each column half of what it keeps")
    return 0


def measure(data: Path, names: tuple[str, ...] | None, folder: Path, part: str) -> list[Kept]:
    """Print a table: its draft, the other steps, and the columns of the best beside those of the draft."""
    draft = yaml.safe_load(api.profile(data, names=names).rendered("yaml", beside=folder))
    print(
        f"\n{data.name}: {len(draft['attributes'])} columns, requires {', '.join(draft.get('privacy', {})) or 'none'}"
    )
    kept = [run("draft", draft, data, folder)]
    for step, policy in candidates(draft, data):
        if part in step:
            kept.append(run(step, policy, data, folder))
    best = max(kept[1:] or kept, key=lambda k: k.mean or 0.0)
    ratio = _ratio(kept[0].mean, best.mean)
    print(f"  best: {best.step}; the draft keeps {ratio:.1%} of what it keeps" if ratio is not None else "  no best")
    for column, share in (best.columns or {}).items():
        own = (kept[0].columns or {}).get(column)
        short = "  << less than half" if (r := _ratio(own, share)) is not None and r < COLUMN_GOAL else ""
        role = draft["attributes"][column]["role"]
        print(f"    {column:<18} {role:<17} draft {_percent(own)}   best {_percent(share)}{short}", flush=True)
    return kept


def run(step: str, policy: Policy, data: Path, folder: Path) -> Kept:
    """Run a policy and print what it keeps."""
    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump(policy, sort_keys=False, width=1000), encoding="utf-8")
    began = time.perf_counter()
    try:
        report = api.run(path, data=data, out=folder / "runs").report
    except PpdmError as error:
        print(f"  {step:<34} failed: {error.diagnostics[0].code} {error.diagnostics[0].message[:80]}", flush=True)
        return Kept(step, error.diagnostics[0].code, time.perf_counter() - began)
    figures = {name: figure.value for name, figure in report.metrics.items() if name.startswith("information_kept.")}
    shares = {name: figures.get(f"information_kept.{name}.kept") for name in policy["attributes"]}
    shown = {name: share for name, share in shares.items() if f"information_kept.{name}.kept" in figures}
    kept = Kept(step, report.verdict, time.perf_counter() - began, figures.get("information_kept.mean_kept"), shown)
    print(f"  {step:<34} {report.verdict:<9} kept {_percent(kept.mean)}  {kept.seconds:6.1f} s", flush=True)
    return kept


def candidates(draft: Policy, data: Path) -> Iterator[tuple[str, Policy]]:
    """Yield other steps for the requirements of a draft, each with its name."""
    if not any(a["role"] == "quasi_identifier" for a in draft["attributes"].values()):
        return
    sets = {"made": _made(data, draft)}
    beside = {n: h for n in draft["attributes"] if (h := _beside(data, n)) is not None}
    if beside:
        sets["beside"] = beside
    for partitioning in ("strict", "relaxed"):
        for labels in ({}, {"significant": 2}):
            ends = " rounded" if labels else ""
            step = {"use": "mondrian", "with": {"partitioning": partitioning, "labels": labels}}
            yield f"mondrian {partitioning}{ends}", _policy(draft, step, {})
        for name, hierarchies in sets.items():
            step = {"use": "mondrian", "with": {"partitioning": partitioning}}
            yield f"mondrian {partitioning}, {name} hierarchies", _policy(draft, step, hierarchies)
    for name, hierarchies in sets.items():
        step = {"use": "full_domain_recoding", "with": {"most_nodes": MOST_NODES}}
        yield f"full_domain, {name} hierarchies", _policy(draft, step, hierarchies)


def _policy(draft: Policy, step: Policy, hierarchies: Mapping[str, Any]) -> Policy:
    attributes = {}
    for name, attribute in draft["attributes"].items():
        kept = {key: value for key, value in attribute.items() if key != "hierarchy"}
        attributes[name] = {**kept, "hierarchy": hierarchies[name]} if name in hierarchies else kept
    privacy = dict(draft.get("privacy", {}))
    if "k_anonymity" in privacy:
        privacy["k_anonymity"] = {"k": K}
    return {**draft, "attributes": attributes, "privacy": privacy, "steps": {"recode": step}}


def _made(data: Path, draft: Policy) -> dict[str, Any]:
    names = draft["source"].get("columns")
    coded, _ = without(columns(data, look(data, TextOptions(columns=tuple(names) if names else None))))
    made: dict[str, Any] = {}
    for name, attribute in draft["attributes"].items():
        if attribute["role"] != "quasi_identifier":
            continue
        if attribute.get("type") in ("integer", "float"):
            numbers = np.array(coded[name][1].to_pylist(), dtype=float)
            edges = np.linspace(numbers.min(), numbers.max() * 1.001 + 1e-6, 33)
            made[name] = {"intervals": [float(f"{e:.9g}") for e in edges], "then": [2, 2, 2, 2], "open_ends": "both"}
        elif attribute.get("type") in ("date", "timestamp"):
            made[name] = {"date": ["month", "quarter", "year", "decade"]}
        elif "hierarchy" in attribute:
            made[name] = attribute["hierarchy"]
    return made


def _beside(data: Path, column: str) -> dict[str, str] | None:
    found = next(iter(data.parent.glob(f"*_hierarchy_{column}.csv")), None)
    return None if found is None else {"csv": str(found)}


def _heart(folder: Path) -> Path:
    """Write an invented table with the columns, sizes and shapes of the one of heart disease from Cleveland."""
    rng, rows = np.random.default_rng(7), 303
    age = rng.normal(54.4, 9.0, rows).clip(29, 77).round().astype(int)
    table = {
        "age": age,
        "sex": (rng.random(rows) < 0.68).astype(int),
        "cp": rng.choice(4, rows, p=[0.47, 0.17, 0.28, 0.08]),
        "trestbps": (rng.normal(131, 17, rows) / 2).round().astype(int).clip(47, 100) * 2,
        "chol": rng.normal(246, 51, rows).clip(126, 564).round().astype(int),
        "fbs": (rng.random(rows) < 0.15).astype(int),
        "restecg": rng.choice(3, rows, p=[0.48, 0.5, 0.02]),
        "thalach": (220 - age + rng.normal(-16, 21, rows)).clip(71, 202).round().astype(int),
        "exang": (rng.random(rows) < 0.33).astype(int),
        "oldpeak": rng.exponential(1.04, rows).clip(0, 6.2).round(1),
        "slope": rng.choice(3, rows, p=[0.07, 0.46, 0.47]),
        "ca": rng.choice(5, rows, p=[0.58, 0.21, 0.13, 0.06, 0.02]),
        "thal": rng.choice(4, rows, p=[0.01, 0.06, 0.54, 0.39]),
        "target": (rng.random(rows) < 0.54).astype(int),
    }
    path = folder / "heart.csv"
    pa_csv.write_csv(pa.table(table), path)
    return path


def _ratio(own: float | None, best: float | None) -> float | None:
    return own / best if own is not None and best else None


def _meets(kept: list[Kept]) -> bool:
    draft, best = kept[0], max(kept[1:] or kept, key=lambda k: k.mean or 0.0)
    ratios = [_ratio((draft.columns or {}).get(column), share) for column, share in (best.columns or {}).items()]
    whole = _ratio(draft.mean, best.mean)
    return whole is not None and whole >= GOAL and all(r is None or r >= COLUMN_GOAL for r in ratios)


def _percent(share: float | None) -> str:
    return "   none" if share is None else f"{100 * share:5.1f} %"


if __name__ == "__main__":
    sys.exit(main())
