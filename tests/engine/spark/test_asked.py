"""What cards say that steps and audits ask of rows on a cluster, held against what they ask in runs."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from itertools import combinations
from pathlib import Path

import pytest

from ppdm_flow.api.plan import plan as planned
from ppdm_flow.api.run import run
from ppdm_flow.api.where import EngineChoice
from ppdm_flow.core.asks import UNKNOWN, DataAccess
from ppdm_flow.engine.spark import engine as writing
from ppdm_flow.engine.spark import source
from ppdm_flow.plan.cluster.foreseen import asked_of
from ppdm_flow.plan.cluster.steps import DRIVER, of_columns, takes_all
from ppdm_flow.plan.definition import Plan
from ppdm_flow.sdk import registry

HERE = Path(__file__).parent / "asked"
POLICIES = sorted(path.stem for path in HERE.glob("*.yaml"))
ROWS = 600
SEEN = {
    "add_noise": "numbers",
    "analyses": "classes",
    "anonymity_score": "generated",
    "apriori_anonymization": "baskets",
    "attribute_disclosure": "generated",
    "blend": "generated",
    "classification_error": "classes",
    "closest_record": "people",
    "cluster_analysis": "classes",
    "complementary_release": "classes",
    "corruption": "relaxed",
    "discoverable_support": "randomized",
    "genetic_encode": "encoded",
    "id_recovery": "encoded",
    "information_loss": "people",
    "interval_disclosure": "numbers",
    "itemset_breach": "randomized",
    "itemset_recovery": "randomized",
    "km_anonymity": "visits",
    "limit_items": "randomized",
    "limit_rows": "visits",
    "lossy_join": "encoded",
    "membership_inference": "generated",
    "minimality": "classes",
    "numeric_linkage": "numbers",
    "one_row_each": "visits",
    "randomize_transactions": "randomized",
    "rank_swap": "tables",
    "rejoin": "joined",
    "roll_up": "baskets",
    "round_values": "tables",
    "sensitivities": "operators",
    "shuffle_values": "tables",
    "singling_out": "people",
    "swap": "tables",
    "swap_records": "tables",
    "synthetic_training": "generated",
    "top_bottom_code": "numbers",
    "unsorted_matching": "classes",
    "vertical_partition": "joined",
}
"""Plugins whose cards say that rows come to the driver, with a policy here in which they do."""
UNSEEN = {
    "first_draw": "it is about the earlier releases of a ledger",
}
"""Plugins that no policy here has, and why."""


@pytest.fixture
def recorded(farm_here, monkeypatch):
    """An engine in this process, and what records what is asked of it; fragments have few rows."""
    spec = spec_from_file_location("ppdm_tests_recording", Path(__file__).parent / "recording.py")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(source, "FRAGMENT_ROWS", 100)
    monkeypatch.setattr(writing, "PART_ROWS", 256)
    engine, recorder = module.recording(monkeypatch, farm_here)

    @contextmanager
    def opened(_where, _name) -> Iterator[object]:
        yield engine

    monkeypatch.setattr(sys.modules["ppdm_flow.api.run"], "opened_engine", opened)
    return recorder


def people(rows: int) -> Iterator[str]:
    draw = random.Random(7)
    yield "person,zip,age,sex,region,district,job,roll_number,income,assets,day,disease,n"
    for i in range(rows):
        region = draw.choice("xy")
        cells = [
            f"p{draw.randrange(rows // 2)}",
            f"{draw.randrange(3)}{draw.randrange(3)}",
            str(draw.randrange(18, 90)),
            draw.choice("fm"),
            region,
            region + draw.choice("12"),
            draw.choice(("cook", "clerk", "nurse")),
            str(1000 + i),
            str(draw.randrange(1000, 9000)),
            f"{draw.uniform(1, 999):.2f}",
            f"2026-03-{draw.randrange(1, 29):02d}",
            draw.choice(("flu", "cough", "ulcer", "burn")),
            str(draw.randrange(1, 4)),
        ]
        yield ",".join(cells)


def folder_of(place: Path, policy: str) -> Path:
    """Write the data beside a policy, and return its path."""
    draw = random.Random(3)
    (place / "people.csv").write_text("\n".join(people(ROWS)) + "\n", encoding="utf-8")
    known = [f"{i % 3}{i % 2},{20 + i % 60},{'fm'[i % 2]},name{i}" for i in range(50)]
    (place / "voters.csv").write_text("\n".join(["zip,age,sex,name", *known]) + "\n", encoding="utf-8")
    spring = [f"{i % 3}{i % 2},{20 + i % 60},{'fm'[i % 2]},flu" for i in range(50)]
    (place / "spring.csv").write_text("\n".join(["zip,age,sex,disease", *spring]) + "\n", encoding="utf-8")
    baskets = [",".join(sorted(draw.sample("abce", draw.randrange(1, 4)))) for _ in range(ROWS)]
    (place / "baskets.txt").write_text("\n".join(baskets) + "\n", encoding="utf-8")
    (place / "secret.key").write_text("00112233445566778899aabbccddeeff\n", encoding="utf-8")
    (place / "secret.key").chmod(0o600)
    return Path(shutil.copy(HERE / f"{policy}.yaml", place))


def declared(plan: Plan) -> dict[tuple[str, str], tuple[DataAccess, bool]]:
    """Return what the plan says of each step and audit, and whether a step takes all rows.

    Audits of joined releases are always on the driver.
    """
    releases = {release.name: release for release in plan.releases}
    said = {}
    for node in plan.steps:
        asks = node.bound.info.asks.of(of_columns(plan, plan.arriving(node)), node.bound.document)
        said["step", node.name] = (DataAccess.TABLE if takes_all(node) else asks), takes_all(node)
    for node in plan.audits:
        said["audit", f"{node.name} of {node.release}"] = asked_of(plan, node, releases[node.release])[0], False
        for names in combinations(releases, 2):
            said["audit", f"{node.name} of {' + '.join(names)}"] = DataAccess.TABLE, False
    return said


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_asks_for_more_than_its_card_says(tmp_path, recorded, policy):
    path = folder_of(tmp_path, policy)
    ready = planned(path, where=EngineChoice("spark"), rows=ROWS)
    run(path, out=tmp_path / "runs", workers=1)
    said = declared(ready.plan)
    for asked in recorded.asked:
        most, takes = said[asked.what, asked.name]
        assert asked.most.rank <= most.rank, asked
        assert asked.taken <= takes, asked
        if asked.plugin in SEEN and SEEN[asked.plugin] == policy:
            recorded.seen.setdefault(asked.plugin, []).append(asked)
    for plugin, asked in recorded.seen.items():
        assert any(each.most.where == DRIVER or each.taken for each in asked), plugin
    assert {plugin for plugin, where in SEEN.items() if where == policy} == recorded.seen.keys()
    assert ready.cluster.passes / 2 <= recorded.passes <= ready.cluster.passes * 2


def test_every_plugin_is_asked_and_what_comes_to_the_driver_is_seen():
    there = {}
    for policy in POLICIES:
        plan = planned(HERE / f"{policy}.yaml").plan
        for node in (*plan.steps, *plan.audits):
            there.setdefault(node.bound.info.name, set()).add(policy)
    for group in ("anonymizers", "audits"):
        for plugin in registry.listed(group):
            if plugin.built_in:
                demand = registry.load(group, plugin.name).info.asks
                assert plugin.name in there or plugin.name in UNSEEN, plugin.name
                assert (demand.usual.where == DRIVER) == (plugin.name in SEEN), plugin.name
                assert demand is not UNKNOWN, f"{plugin.name} says nothing, and so the worst is taken for granted"
