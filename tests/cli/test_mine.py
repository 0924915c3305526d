"""``ppdm-flow mine``: from policy to run to what a recipient finds in the release."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from itertools import combinations

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from quest import Quest, quest

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.transactions.operators import TransactionOperator, document
from ppdm_flow.mining.transactions.randomize import randomize
from ppdm_flow.tables.sets import Baskets

POLICY = """version: 1
name: shop
source: {{path: shop.dat}}
attributes: {{basket: {{role: items}}}}
randomness: {{mode: reproducible, seed: shop}}
steps:
  randomize: {{use: randomize_transactions, with: {how}}}
releases:
  baskets: {{path: shop.parquet}}
"""
SHOP = Quest(20_000, 40, 3.0, 6, 30, 2.0)


@pytest.fixture(scope="module")
def baskets() -> list[frozenset[str]]:
    """Made baskets, item numbers from 1000 on."""
    (data,) = quest(SHOP, 5)
    return [frozenset(str(1000 + int(i)) for i in row) for row in data.texts()]


@pytest.fixture(scope="module")
def home(tmp_path_factory, baskets):
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.dat").write_text("\n".join(" ".join(sorted(b, key=int)) for b in baskets) + "\n")
    return folder


def made(home, cli, name: str, how: str):
    (home / f"{name}.yaml").write_text(POLICY.format(how=how))
    done = cli("run", f"{name}.yaml", "--out", f"runs-{name}", "-q", cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (home / f"runs-{name}" / "shop").iterdir()
    return run


@pytest.fixture(scope="module")
def packed(home, cli):
    return made(home, cli, "packed", "{form: packed, cutoff: 4, insertion: 0.125}")


@pytest.fixture(scope="module")
def seeded(home, cli):
    return made(home, cli, "seeded", "{form: seeded, cutoff: 4, insertion: 0.125}")


@pytest.fixture
def received(packed, tmp_path):
    """Only what the recipient gets, elsewhere."""
    return shutil.copytree(packed / "released/baskets", tmp_path / "got")


def true_supports(baskets) -> Counter[tuple[str, ...]]:
    return Counter(s for b in baskets for k in (1, 2, 3) for s in combinations(sorted(b), k))


def mined(here, *words) -> dict:
    done = here("mine", *words, "--format", "json", "-q")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("form", ["packed", "seeded"])
def test_supports_are_those_of_the_original_within_their_errors(here, request, baskets, form):
    """5 standard errors: a chance of 1e-4 to fail, over all itemsets; the key is fixed."""
    found = mined(here, request.getfixturevalue(form), "--min-support", "0.05")
    true = true_supports(baskets)
    assert found["transactions"] == len(baskets)
    assert found["operator"]["family"] == "cut_and_paste"
    assert {len(i["items"]) for i in found["itemsets"]} >= {1, 2}
    for itemset in found["itemsets"]:
        share = true[tuple(sorted(itemset["items"]))] / len(baskets)
        assert abs(itemset["support"] - share) < 5 * itemset["sigma"]
        assert itemset["low"] <= itemset["support"] <= itemset["high"]
        assert itemset["discoverable"] == (itemset["support"] >= 4 * itemset["sigma"])
    sure = {s for s, n in true.items() if len(s) == 1 and n / len(baskets) > 0.05 + 5 * found["sizes"][0]["sigma"]}
    assert sure
    assert sure <= {tuple(i["items"]) for i in found["itemsets"]}


@pytest.mark.slow
def test_the_recipient_needs_the_release_alone(here, packed, received, tmp_path, home):
    whole = mined(here, packed, "--min-support", "0.05")
    assert mined(here, received, "--min-support", "5%") == whole | {"min_support": whole["min_support"]}
    assert mined(here, received / "shop.parquet", "--min-support", "0.05") == whole
    assert mined(here, received / "operator.json", "--min-support", "0.05") == whole
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(received / "shop.parquet", alone)
    shutil.copy(received / "operator.json", tmp_path / "theirs.json")
    by_count = mined(here, alone / "shop.parquet", "--operator", tmp_path / "theirs.json", "--min-support", "1000")
    assert [i["items"] for i in by_count["itemsets"]] == [i["items"] for i in whole["itemsets"]]


def test_the_schema_knows_the_answer(here, packed, root, home):
    schema = json.loads((root / "schemas/mined.v1.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    for words in (("--rules",), ("--limit", "3", "--max-length", "1"), ("--precision", "30")):
        jsonschema.validate(mined(here, packed, "--min-support", "0.05", *words), schema)
    jsonschema.validate(mined(here, home / "shop.dat", "--min-support", "0.05", "--rules"), schema)


def test_plain_baskets_are_counted(here, home, baskets):
    """Against plain Python: every itemset, its count, every rule."""
    true = {s: n for s, n in true_supports(baskets).items() if n >= 600}
    found = mined(here, home / "shop.dat", "--min-support", "600", "--max-length", "3", "--rules")
    assert {tuple(sorted(i["items"])): i["transactions"] for i in found["itemsets"]} == true
    assert found["operator"] is None
    assert found["itemsets"][0]["sigma"] is None
    wanted = {}
    for itemset, count in true.items():
        for k in range(1, len(itemset)):
            for first in combinations(itemset, k):
                rest = tuple(i for i in itemset if i not in first)
                if count / true[first] >= 0.5:
                    wanted[first, rest] = (count / true[first], count / true[first] / (true[rest] / len(baskets)))
    rules = {(tuple(r["antecedent"]), tuple(r["consequent"])): r for r in found["rules"]}
    assert rules.keys() == wanted.keys()
    for key, (confidence, lift) in wanted.items():
        assert rules[key]["confidence"]["value"] == pytest.approx(confidence)
        assert rules[key]["lift"]["value"] == pytest.approx(lift)
    assert [r["confidence"]["value"] for r in found["rules"]] == sorted((c for c, _ in wanted.values()), reverse=True)


@pytest.mark.slow
def test_an_operator_that_changes_nothing_is_exact(here, home, cli, baskets):
    run = made(home, cli, "none", "{operator: none}")
    found = mined(here, run, "--min-support", "0.03")
    plain = mined(here, home / "shop.dat", "--min-support", "0.03")
    assert {tuple(i["items"]): i["transactions"] for i in found["itemsets"]} == {
        tuple(i["items"]): i["transactions"] for i in plain["itemsets"]
    }
    assert found["operator"] is None


@pytest.mark.parametrize("which", ["packed", "plain"])
def test_partial_supports_are_shares_of_transactions_with_just_so_many_items(here, request, home, baskets, which):
    """Against plain counts: exact ones alike, estimates within 0.05; the last one is the support."""
    place = home / "shop.dat" if which == "plain" else request.getfixturevalue("packed")
    found = mined(here, place, "--min-support", "0.05")
    pairs = [i for i in found["itemsets"] if len(i["items"]) == 2]
    assert pairs
    for itemset in [*pairs, found["itemsets"][0]]:
        held = Counter(len(b.intersection(itemset["items"])) for b in baskets)
        true = [held[n] / len(baskets) for n in range(len(itemset["items"]) + 1)]
        assert itemset["partial_supports"] == pytest.approx(true, abs=1e-9 if which == "plain" else 0.05)
        assert sum(itemset["partial_supports"]) == pytest.approx(1, abs=1e-9 if which == "plain" else 0.01)
        assert itemset["partial_supports"][-1] == pytest.approx(itemset["support"])
    text = here("mine", place, "--min-support", "0.05").stdout
    assert "holding just 0 / 1 / 2" in text
    lines = list(csv.DictReader(io.StringIO(here("mine", place, "--min-support", "0.05", "--format", "csv").stdout)))
    shares = [float(word) for word in lines[-1]["partial_supports"].split()]
    assert shares == pytest.approx(found["itemsets"][-1]["partial_supports"], abs=1e-8)


def test_rules_have_intervals(here, packed, baskets):
    found = mined(here, packed, "--min-support", "0.03", "--rules", "--min-confidence", "0.2", "--min-lift", "1.1")
    true = true_supports(baskets)
    assert found["rules"]
    for rule in found["rules"]:
        both = true[tuple(sorted(rule["antecedent"] + rule["consequent"]))]
        confidence = rule["confidence"]
        truth = both / true[tuple(sorted(rule["antecedent"]))]
        assert abs(confidence["value"] - truth) < 5 * confidence["sigma"]
        assert confidence["value"] >= 0.2
        assert rule["lift"]["value"] >= 1.1
        assert 0 <= confidence["low"] <= confidence["high"] <= 1


def test_csv(here, packed):
    whole = mined(here, packed, "--min-support", "0.05", "--rules", "--min-confidence", "0.2")
    lines = list(csv.DictReader(io.StringIO(here("mine", packed, "--min-support", "0.05", "--format", "csv").stdout)))
    assert [next(csv.reader([line["items"]])) for line in lines] == [i["items"] for i in whole["itemsets"]]
    assert [float(line["support"]) for line in lines] == pytest.approx([i["support"] for i in whole["itemsets"]])
    words = ("--min-support", "0.05", "--rules", "--min-confidence", "0.2", "--format", "csv", "--limit", "2")
    rules = list(csv.DictReader(io.StringIO(here("mine", packed, *words).stdout)))
    assert len(rules) == 2
    assert float(rules[0]["confidence"]) == pytest.approx(whole["rules"][0]["confidence"]["value"])


def test_text_and_markdown(here, packed, tmp_path):
    done = here("mine", packed, "--min-support", "0.02", "--limit", "2", "--rules")
    assert done.returncode == 0
    head = done.stdout.splitlines()
    assert head[0] == "basket in shop.parquet: 20,000 randomized transactions over 26 items"
    assert head[1].startswith("operator: cut-and-paste, by the size of a transaction (1 to 6), K ")
    assert "at least 2 % (400 transactions): estimates with intervals of 95 %" in head[2]
    assert "more (--limit " in done.stdout
    assert "=>" in done.stdout
    assert "candidates of 1 item: 20,000 rows" in done.stderr
    out = tmp_path / "found.md"
    done = here("mine", packed, "--min-support", "0.05", "--format", "md", "-o", out)
    assert done.stdout == ""
    assert "| 1 item | support | std. error | low | high |" in out.read_text()


def test_too_low_a_support_is_warned_of(here, packed):
    done = here("mine", packed, "--min-support", "0.01", "--precision", "0", "--max-length", "2")
    assert "PPF139" in done.stderr
    assert "are expected to be less frequent" in done.stderr
    assert " ?" in done.stdout
    assert "-0" not in done.stdout.split()
    assert "PPF139" not in here("mine", packed, "--min-support", "0.05", "--max-length", "1").stderr
    stopped = here("mine", packed, "--min-support", "0.002").stdout
    assert "minimum support is less than 2 errors above 0 (--precision 2)" in stopped


@pytest.mark.slow
def test_seeds_end_the_search(here, seeded):
    found = mined(here, seeded, "--min-support", "0.01", "--precision", "0")
    assert found["stopped"]["after"] <= 4


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--min-support", "0"), "PPF120"),
        (("--min-support", "1.5"), "PPF120"),
        (("--min-support", "0,2%"), "PPF120"),
        (("--min-support", "nan%"), "PPF120"),
        (("--min-support", "-3"), "PPF120"),
        (("--min-support", "1e1%"), "PPF120"),
        (("--min-support", "\uff15%"), "PPF120"),
        (("--min-support", "\uff15"), "PPF120"),
        (("--min-support", "0.1", "--level", "\uff10.9"), "no number in plain digits"),
        (("--min-support", "0.1", "--limit", "1_0"), "no number in plain digits"),
        (("--min-support", "0.1", "--precision", "1e0"), "no number in plain digits"),
        (("--min-support", "0.1", "--level", "150%"), "no number in plain digits"),
        (("--min-support", "0.1", "--level", "90%"), None),
        (("--min-support", "10%", "--rules", "--min-confidence", "40%"), None),
        (("--min-support", "1000000"), "PPF120"),
        (("--min-support", "0.1", "--min-confidence", "0.4"), "PPF120"),
        (("--min-support", "0.1", "--rules", "--min-confidence", "40"), "PPF120"),
        (("--min-support", "0.1", "--level", "95"), "PPF120"),
        (("--min-support", "0.1", "--precision", "-1"), "PPF120"),
        (("--min-support", "0.1", "--attribute", "carts"), None),
        (("--min-support", "0.1", "--operator", "nowhere.json"), "PPF701"),
    ],
)
def test_what_cannot_be_understood(here, packed, words, code):
    done = here("mine", packed, *words)
    if code is None:
        assert done.returncode == 0  # there is one column only: its name does not matter
    else:
        assert done.returncode == 2, done.stdout
        assert code in done.stderr


def _first(told: dict) -> dict:
    return told["operators"][0]["operator"]


CHANGES = {
    "no list": lambda told: told.update(operators=3),
    "no family": lambda told: _first(told).update(family="mixer"),
    "sizes": lambda told: _first(told)["sizes"].pop(0),
    "rho": lambda told: _first(told)["sizes"][0].update(rho=1.0),
    "alphabet": lambda told: _first(told).update(alphabet=41),
    "on something else": lambda told: told["operators"][0].update(form="fine_grain"),
}
TEXTS = {
    "no JSON": ("operator.json", "{"),
    "dictionary": ("dictionary.json", "[]"),
    "contract": ("mining_contract.json", '{"lowest_discoverable_support": 4}'),
    "no Parquet": ("shop.parquet", "PAR1" + 2000 * " "),
}


def broken(received, what: str) -> None:
    operator, file = received / "operator.json", received / "shop.parquet"
    if what == "missing":
        operator.unlink()
    elif what == "cut off":
        file.write_bytes(file.read_bytes()[:-2000])
    elif what in TEXTS:
        name, text = TEXTS[what]
        (received / name).write_text(text)
    else:
        told = json.loads(operator.read_text())
        CHANGES[what](told)
        operator.write_text(json.dumps(told))


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("missing", "PPF736"),
        ("no JSON", "PPF736"),
        ("no list", "PPF736"),
        ("no family", "PPF736"),
        ("sizes", "PPF777"),
        ("rho", "PPF736"),
        ("alphabet", "PPF137"),
        ("on something else", "PPF736"),
        ("cut off", "PPF717"),
        ("no Parquet", "PPF717"),
        ("dictionary", "PPF769"),
        ("contract", "PPF736"),
    ],
)
def test_what_is_damaged_is_refused(here, received, what, code):
    broken(received, what)
    done = here("mine", received, "--min-support", "0.05")
    assert done.returncode == 2, done.stdout
    assert code in done.stderr, done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_another_release_s_operator(here, received, seeded, tmp_path):
    """Other probabilities: seeds tell at once, bits by the number of items."""
    told = json.loads((received / "operator.json").read_text())
    for entry in told["operators"][0]["operator"]["sizes"]:
        entry["rho"] = min(0.95, entry["rho"] + 0.03125)
    (received / "operator.json").write_text(json.dumps(told))
    done = here("mine", received, "--min-support", "0.05", "--max-length", "1")
    assert done.returncode == 0
    assert "PPF137" in done.stderr
    theirs = shutil.copytree(seeded / "released/baskets", tmp_path / "seeds")
    done = here("mine", theirs, "--operator", received / "operator.json", "--min-support", "0.05")
    assert (done.returncode, "PPF137" in done.stderr) == (2, True)


def test_a_file_that_is_shorter_than_its_dictionary_says(here, received):
    told = json.loads((received / "dictionary.json").read_text())
    (received / "dictionary.json").write_text(json.dumps(told | {"rows": 20_001}))
    done = here("mine", received, "--min-support", "0.05", "--max-length", "1")
    assert done.returncode == 0
    assert "20,000 transactions, and its data dictionary says 20,001" in done.stderr


def uniform(folder, alphabet: int = 60):
    """Lists of items by another tool, each kept with a half, else replaced; some of the alphabet never comes up."""
    (data,) = quest(SHOP, 5)
    operator = TransactionOperator.uniform(range(1, 7), 0.5, 60)
    data = Baskets(data.offsets, data.items, pa.array([f"{i:02d}" for i in range(60)]))
    draws = Draws(RunKey.from_seed("uniform").step("mix"), randomize.draws_per_row(operator))
    lists = randomize.randomize(data, operator, draws, np.arange(len(data))).baskets()
    texts = pa.array(lists.categories.to_pylist()).take(pa.array(lists.items))
    folder.mkdir(exist_ok=True)
    pq.write_table(
        pa.table({"basket": pa.ListArray.from_arrays(lists.offsets.astype("int32"), texts)}), folder / "u.parquet"
    )
    told = {"attribute": "basket", "form": "transactions", "operator": document(operator) | {"alphabet": alphabet}}
    (folder / "operator.json").write_text(json.dumps({"version": 1, "operators": [told]}))
    return data


@pytest.mark.slow
def test_lists_that_another_tool_randomized(here, tmp_path):
    data = uniform(tmp_path / "theirs")
    found = mined(here, tmp_path / "theirs", "--min-support", "0.05", "--max-length", "2")
    counts = Counter(s for row in data.texts() for k in (1, 2) for s in combinations(sorted(row), k))
    assert {len(i["items"]) for i in found["itemsets"]} == {1, 2}
    for itemset in found["itemsets"]:
        share = counts[tuple(sorted(itemset["items"]))] / len(data)
        assert abs(itemset["support"] - share) < 5 * itemset["sigma"]
    assert found["items"] == 60
    for alphabet in (12, 10**12):
        uniform(tmp_path / "theirs", alphabet)
        done = here("mine", tmp_path / "theirs", "--min-support", "0.05")
        assert (done.returncode, "PPF137" in done.stderr) == (2, True)
    told = json.loads((tmp_path / "theirs/operator.json").read_text())
    told["operators"][0]["operator"] = document(
        TransactionOperator.cut_and_paste(dict.fromkeys(range(1, 7), 3), dict.fromkeys(range(1, 7), 0.2), 60)
    )
    (tmp_path / "theirs/operator.json").write_text(json.dumps(told))
    assert (
        "does not say how many each transaction had"
        in here("mine", tmp_path / "theirs", "--min-support", "0.05").stderr
    )


def test_sizes_that_are_not_published(here, received):
    file = received / "shop.parquet"
    table = pq.read_table(file)
    column = table.column("basket").combine_chunks()
    gone = pa.StructArray.from_arrays([column.field("bits"), pa.nulls(len(column), pa.int32())], ["bits", "size"])
    pq.write_table(pa.table({"basket": gone}).replace_schema_metadata(table.schema.metadata), file)
    done = here("mine", received, "--min-support", "0.05")
    assert (done.returncode, "PPF137" in done.stderr) == (2, True)


def test_places_without_sets(here, tmp_path, home):
    (tmp_path / "table.csv").write_text("age,sex\n3,f\n")
    for place, code in ((tmp_path / "table.csv", "PPF135"), (tmp_path / "nowhere", "PPF760"), (tmp_path, "PPF760")):
        done = here("mine", place, "--min-support", "0.1")
        assert (done.returncode, code in done.stderr) == (2, True), done.stderr
    (tmp_path / "empty.dat").write_text("")
    done = here("mine", tmp_path / "empty.dat", "--min-support", "0.1")
    assert done.returncode == 2
    (tmp_path / "blank.dat").write_text("\n\n1 2\n\n")
    assert mined(here, tmp_path / "blank.dat", "--min-support", "0.25")["transactions"] == 4


def test_one_of_several_columns(here, tmp_path):
    table = pa.table({"age": ["3", "4"], "first": [["a", "b"], ["a"]], "second": [["x, y"], ["x, y", 'q"']]})
    pq.write_table(table, tmp_path / "two.parquet")
    done = here("mine", tmp_path / "two.parquet", "--min-support", "1.0")
    assert (done.returncode, "--attribute" in done.stderr) == (2, True)
    assert here("mine", tmp_path / "two.parquet", "--min-support", "1.0", "--attribute", "age").returncode == 2
    near = here("mine", tmp_path / "two.parquet", "--min-support", "1.0", "--attribute", "secund")
    assert "did you mean `second`?" in near.stderr
    words = ("--min-support", "1", "--attribute", "second", "--format", "csv", "--max-length", "2")
    lines = list(csv.DictReader(io.StringIO(here("mine", tmp_path / "two.parquet", *words).stdout)))
    assert [next(csv.reader([line["items"]])) for line in lines] == [["x, y"], ['q"'], ['q"', "x, y"]]


def test_no_item_stands_in_an_error(here, received):
    for what in ("alphabet", "cut off", "sizes"):
        broken(received, what)
        said = here("mine", received, "--min-support", "0.05").stderr.replace(str(received), "")
        assert not any(str(1000 + i) in said for i in range(40))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BMS-WebView-1", "retail"])
def test_public_baskets_from_policy_to_recipient(data, tmp_path, cli, here, name):
    """Released without the longest baskets; the recipient's estimates hold the truth within 6 standard errors."""
    file = data / "fimi" / f"{name}.dat.gz"
    if not file.is_file():
        pytest.skip(f"{name} is not at hand")
    (tmp_path / "p.yaml").write_text(
        "version: 1\nname: shop\nsource: {path: " + str(file) + ", format: transactions, with: {repeated: merge}}\n"
        "attributes: {basket: {role: items}}\nprivacy: {itemset_breach: {level: 0.8, sizes: [1, 2]}}\n"
        "randomness: {mode: reproducible, seed: public}\n"
        "steps:\n  short: {use: limit_items, with: {max: 6}}\n  mix: {use: randomize_transactions}\n"
        "audits: {recovery: {use: itemset_recovery, with: {min_support: {ratio: 0.02}, max_length: 2}}}\n"
        "releases: {study: {path: s.parquet}}\n"
    )
    done = cli("run", "p.yaml", "--out", "runs", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (tmp_path / "runs/shop").iterdir()
    got = shutil.copytree(run / "released/study", tmp_path / "got")
    found = mined(here, got, "--min-support", "0.02", "--max-length", "2")
    assert found["itemsets"]
    metrics = json.loads((run / "report.json").read_text())["metrics"]
    by_size = Counter(len(i["items"]) for i in found["itemsets"])
    for k in (1, 2):
        hits = metrics[f"recovery.true_positives.{k}"]["value"] + metrics[f"recovery.false_positives.{k}"]["value"]
        assert by_size[k] == hits


WRITTEN = {
    "baskets": ("milk,bread\nmilk\nbread,milk,tea\n", ()),
    "transactions": ("1 2\n2\n2 1 3\n", ()),
    "long": (
        "order;product\n1;milk\n1;bread\n2;milk\n3;bread\n3;milk\n3;tea\n",
        ("id=order", "item=product", "delimiter=;"),
    ),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_the_format_of_a_file_can_be_said(here, tmp_path, kind):
    """A name that says nothing, or something else: two of three sets hold both of the same two items."""
    text, options = WRITTEN[kind]
    file = tmp_path / "orders.txt"
    file.write_text(text)
    words = [word for option in options for word in ("--input-with", option)]
    found = mined(here, file, "--min-support", "2", "--input-format", kind, *words)
    assert [(len(i["items"]), i["transactions"]) for i in found["itemsets"]] == [(1, 3), (1, 2), (2, 2)]
    done = here("mine", file, "--min-support", "2")
    assert (done.returncode, "PPF135" in done.stderr) == (2, True)
    assert "--input-format baskets" in done.stderr


def test_cells_of_two_columns_are_two_items(here, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("a,a=b\nb=c,c\n")
    done = here("mine", file, "--min-support", "1", "--input-format", "csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "PPF135" in done.stderr
    file.write_text("a,a=b\nc,c\n")
    (longest,) = (i["items"] for i in mined(here, file, "--min-support", "1", "--input-format", "csv")["itemsets"][-1:])
    assert sorted(longest) == ["a=b=c", "a=c"]


def test_rows_of_a_table_are_sets_of_their_cells(here, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("age,town\n30,Lyon\n30,\n40,Lyon\n30,Lyon\n")
    found = mined(here, file, "--min-support", "2", "--input-format", "csv")
    held = {tuple(i["items"]): i["transactions"] for i in found["itemsets"]}
    assert held == {("age=30",): 3, ("town=Lyon",): 3, ("age=30", "town=Lyon"): 2}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--input-format", "basket"), "PPF120"),
        (("--input-format", "long"), "PPF490"),
        (("--input-format", "baskets", "--input-with", "delimiter=;;"), "PPF490"),
        (("--input-format", "baskets", "--input-with", "mark=;"), "PPF490"),
        (("--input-format", "baskets", "--input-with", "delimiter"), "PPF490"),
        (("--input-format", "transactions"), "PPF755"),
    ],
)
def test_a_format_that_does_not_fit_is_refused(here, tmp_path, words, code):
    (tmp_path / "orders.txt").write_text("milk,bread\nmilk\n")
    done = here("mine", tmp_path / "orders.txt", "--min-support", "1", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert code in done.stderr
    assert "milk" not in done.stderr


def test_the_code_table_of_any_table(here, tmp_path):
    """Covered by hand: xu three times, then u, then y and v; rows and supports are plain counts."""
    (tmp_path / "t.csv").write_text("a;b\nx;u\nx;u\nx;u\ny;v\ny;u\n")
    done = here("mine", "t.csv", "--code-table", "--min-support", "2", cwd=tmp_path)
    document = json.loads(done.stdout)
    found = {"".join(sorted(e["items"].values())): (e["usage"], e["support"]) for e in document["elements"]}
    assert document["attributes"] == ["a", "b"]
    assert found == {"ux": (3, 3), "u": (1, 4), "x": (0, 3), "y": (2, 2), "v": (1, 1)}
    refused = here("mine", "t.csv", "--code-table", "--min-support", "2", "--rules", cwd=tmp_path)
    assert refused.returncode == 2
    assert "PPF120" in refused.stderr


@pytest.mark.slow
def test_rows_from_the_code_table_of_a_table(here, tmp_path):
    """What `mine` prints, a policy takes; its own run keeps none, since nothing is learned."""
    (tmp_path / "t.csv").write_text("a,b\n" + "x,u\ny,v\n" * 50)
    here("mine", "t.csv", "--code-table", "--min-support", "0.1", "-o", "code_table.json", cwd=tmp_path)
    policy = """version: 1
name: made
source: {path: t.csv}
attributes: {a: {role: insensitive}, b: {role: insensitive}}
privacy: none
steps:
  generate: {use: krimp_generator, with: HOW}
releases: {study: {path: made.csv, audience: partner}}
"""
    for name, how in (("given", "{code_table: code_table.json, laplace: 0}"), ("learned", "{laplace: 0}")):
        (tmp_path / f"{name}.yaml").write_text(policy.replace("HOW", how))
        done = here("run", f"{name}.yaml", "--out", f"runs-{name}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (run,) = (tmp_path / f"runs-{name}/made").iterdir()
        rows = (run / "released/study/made.csv").read_text().split()[1:]
        assert set(rows) <= {"x,u", "y,v"}  # single values have no usage of their own
        kept = [path.relative_to(run) for path in run.rglob("code_table.json")]
        assert [str(path) for path in kept] == ([] if name == "given" else ["internal/generate/code_table.json"])
        assert all((run / path).stat().st_mode & 0o077 == 0 for path in kept)
        verified = here("verify", run, cwd=tmp_path)
        assert verified.returncode == 0, verified.stdout + verified.stderr
    printed = json.loads((tmp_path / "code_table.json").read_text())
    assert printed == json.loads((run / "internal/generate/code_table.json").read_text())
    withheld = (tmp_path / "learned.yaml").read_text().replace("privacy: none", "privacy: {anonymity_score: {max: 0}}")
    (tmp_path / "withheld.yaml").write_text(withheld)
    done = here("run", "withheld.yaml", "--out", "runs-withheld", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert not list((tmp_path / "runs-withheld").rglob("code_table.json"))
