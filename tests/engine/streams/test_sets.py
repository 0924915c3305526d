"""Sets on their way through the engine: sorted out of core, hashed, paired, guarded, and released as what they were."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError, PpdmError, RunError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.local.partitions import Spool
from ppdm_flow.engine.local.transforms import MemoryStream
from ppdm_flow.engine.local.writing import batch
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.run.finishing import execute
from ppdm_flow.engine.run.preview import preview
from ppdm_flow.engine.streams.checks import check_values
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.narrow import NarrowTable
from ppdm_flow.engine.streams.rebatching import partitions
from ppdm_flow.engine.streams.stream import Stop, StreamPairs, StreamPart
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.engine.verify.judge_files import judge
from ppdm_flow.engine.verify.verify import verify
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
from ppdm_flow.tables.sets import Baskets, Expansion, PackedSets, SeededSets
from ppdm_flow.tables.table import Table, concat

ALPHABET = [f"i{n:03d}" for n in range(200)]
FACTS = (AttributeFacts("town", Role.QUASI_IDENTIFIER), AttributeFacts("basket", Role.ITEMS))


def sets(rows: int, seed: int = 1) -> list[list[str]]:
    draw = random.Random(seed)
    return [sorted(draw.sample(ALPHABET, draw.randint(0, 6))) for _ in range(rows)]


def column(rows: int, form: str):
    """A column in one of the three forms, over the whole alphabet where it is randomized."""
    baskets = Baskets.of(sets(rows), None if form == "baskets" else ALPHABET)
    if form == "baskets":
        return baskets
    if form == "packed":
        return PackedSets.of(baskets)
    expansion = Expansion((0.25,) * 7, 2)
    seeds = np.random.default_rng(5).integers(0, 1 << 16, (rows, expansion.width)).astype(np.uint16)
    seeds *= np.arange(expansion.width) < baskets.sizes[:, None] + 2
    return SeededSets(seeds, baskets.sizes, baskets.categories, expansion)


def table(rows: int, form: str = "baskets") -> Table:
    towns = Table.of({"town": [f"t{i % 5}" for i in range(rows)]})
    return towns.resettled({"basket": column(rows, form)})


def cells(whole: Table) -> list[tuple[object, ...]]:
    """Every row in a form that can be compared."""
    found = whole.sets["basket"]
    if isinstance(found, Baskets):
        values = [tuple(sorted(row)) for row in found.texts()]
    else:
        array = found.words if isinstance(found, PackedSets) else found.seeds
        values = [(bytes(row), int(size)) for row, size in zip(array, found.sizes, strict=True)]
    return list(zip(whole["town"].texts(), values, strict=True))


def pieces(whole: Table, size: int) -> list[Table]:
    found = [whole.take(np.arange(at, min(at + size, len(whole)))) for at in range(0, len(whole), size)]
    return [t.resettled({"basket": t.sets["basket"].compact()}) for t in found]


FORMS = pytest.mark.parametrize("form", ["baskets", "packed", "seeded"])


@pytest.mark.slow(quick=4)
@FORMS
@pytest.mark.parametrize("limit", [1 << 30, 0])
def test_sorting_in_memory_and_out_of_core(tmp_path, form, limit):
    whole = table(4000, form)
    keys = np.random.default_rng(2).integers(0, 1 << 64, 4000, dtype=np.uint64)
    spool = Spool(("town", "basket"), tmp_path, limit)
    for part in pieces(whole, 613):
        spool.add(StreamPart(part, keys[part.rows]))
        if not limit:
            spool._distribute()
    assert bool(list(tmp_path.iterdir())) is (not limit)
    done = concat(spool.tables())
    order = np.argsort(keys)
    assert done.rows.tolist() == order.tolist()
    assert cells(done) == cells(whole.take(order))
    assert done.sets["basket"].valid()
    assert not list(tmp_path.iterdir())


@FORMS
def test_the_multiset_hash_sees_sets_and_not_their_coding(form):
    whole = table(900, form)
    key = MultisetHash.fresh_key()

    def value(parts):
        seen = MultisetHash(key)
        for part in parts:
            seen.look(part)
        return seen.value

    plain = value([whole])
    shuffled = whole.take(np.random.default_rng(3).permutation(900))
    assert value(pieces(shuffled, 77)) == plain
    swapped = np.arange(900)
    swapped[[4, 5]] = [5, 4]
    moved = Table(whole.columns, whole.rows, {"basket": whole.sets["basket"].take(swapped)})
    assert value([moved]) != plain


def test_the_multiset_hash_sees_single_bits_and_sizes():
    packed = PackedSets.of(Baskets.of(sets(50), ALPHABET))
    seen = set()
    for row, word, bit in [(0, 0, 0), (0, 0, 63), (7, 3, 7), (7, 2, 31), (49, 1, 32)]:
        words = packed.words.copy()
        words[row, word] ^= np.uint64(1 << bit)
        seen.add(hashed(PackedSets(words, packed.sizes, packed.categories)))
    sizes = packed.sizes.copy()
    sizes[3] += 1
    seen |= {hashed(packed), hashed(PackedSets(packed.words, sizes, packed.categories))}
    turned = PackedSets(packed.words, packed.sizes, packed.categories[::-1])
    assert len({*seen, hashed(turned)}) == 8


def hashed(sets_):
    seen = MultisetHash("0123456789abcdef")
    seen.look(Table({}, np.arange(len(sets_)), {"b": sets_}))
    return seen.value


@FORMS
def test_narrow_tables_views_and_pairs_carry_sets(form):
    whole = table(500, form)
    assert cells(NarrowTable.of(whole).table(("town", "basket"))) == cells(whole)
    stream = MemoryStream(whole, FACTS, 64, Stop())
    view = StreamView(stream)
    assert cells(view.table()) == cells(whole)
    assert view.row_count == 500
    assert len(view.sample(20).sets["basket"]) == 20
    assert [len(p.sets["basket"]) for p in view.partitions(["basket"])] == [64] * 7 + [52]
    some = whole.take(np.arange(0, 500, 3))
    for aligned in (True, False):
        pairs = StreamPairs(stream, MemoryStream(some, FACTS, 50, Stop()), aligned=aligned)
        joined = list(pairs.pairs(["town", "basket"], ["town", "basket"]))
        assert [c for left, _ in joined for c in cells(left)] == cells(some)
        assert [c for _, right in joined for c in cells(right)] == cells(some)


def test_sets_have_no_counts():
    view = StreamView(MemoryStream(table(10), FACTS, 64, Stop()))
    for ask in (lambda: view.counts(["town", "basket"]), lambda: view.domain("basket")):
        with pytest.raises(DataError) as caught:
            ask()
        assert caught.value.diagnostics[0].code == "PPF573"


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_any_partitions_of_any_blocks_are_the_same(size):
    whole = table(300)
    for block in (13, 300):
        blocks = iter([batch(t, ("town", "basket")) for t in pieces(whole, block)])
        found = list(partitions(blocks, ("town", "basket"), size))
        assert [len(t) for t in found[:-1]] == [size] * (len(found) - 1)
        assert [c for t in found for c in cells(t)] == cells(whole)
        for part in found:
            used = {i for row in part.sets["basket"].texts() for i in row}
            assert part.sets["basket"].categories.to_pylist() == sorted(used)


@pytest.mark.parametrize(
    ("facts", "items", "code"),
    [
        (AttributeFacts("basket", Role.ITEMS, domain=("a", "b")), [["a"], ["b", "zqcanary"]], "PPF711"),
        (AttributeFacts("basket", Role.ITEMS, domain=("zqcanary", "b")), [["b"], ["ZQcanary"]], "PPF711"),
        (AttributeFacts("basket", Role.ITEMS), [["a"], ["⊥"]], "PPF713"),
        (AttributeFacts("basket", Role.QUASI_IDENTIFIER), [["a"], []], "PPF754"),
    ],
)
def test_sets_are_held_against_the_declaration(facts, items, code):
    made = Table({}, np.arange(10, 10 + len(items)), {"basket": Baskets.of(items)})
    with pytest.raises(DataError) as caught:
        check_values(made, {"basket": facts})
    assert caught.value.diagnostics[0].code == code
    assert "zqcanary" not in caught.value.diagnostics[0].message.lower()
    if code != "PPF754":
        assert "row 12" in caught.value.diagnostics[0].message


def test_single_values_are_no_sets():
    with pytest.raises(DataError) as caught:
        check_values(Table.of({"basket": ["a,b"]}), {"basket": AttributeFacts("basket", Role.ITEMS)})
    assert caught.value.diagnostics[0].code == "PPF754"


def test_partitions_over_other_alphabets_are_no_release(tmp_path):
    spool = Spool(("basket",), tmp_path, 1 << 30)
    one = PackedSets.of(Baskets.of([["a"]], ["a", "b"]))
    other = PackedSets.of(Baskets.of([["a"]], ["a", "c"]))
    keys = np.array([1], dtype=np.uint64)
    spool.add(StreamPart(Table({}, np.array([0]), {"basket": one}), keys))
    with pytest.raises(RunError) as caught:
        spool.add(StreamPart(Table({}, np.array([1]), {"basket": other}), keys))
    assert caught.value.diagnostics[0].code == "PPF753"


POLICY = """version: 1
name: shop
source: {path: SOURCE}
attributes:
  town: {role: quasi_identifier}
  basket:
    role: items
    hierarchy: {csv: items.csv}
privacy: {k_anonymity: {k: 5}}
steps:
  short: {use: limit_items, with: {max: 4, min: 1, longer: discard}}
  coarse: {use: roll_up}
releases:
  study: {path: study.parquet}
"""


@pytest.fixture
def shop(tmp_path: Path):
    """A Parquet file with a column of lists beside another one, and a hierarchy of items."""
    whole = table(2000)
    lists = pa.array(whole.sets["basket"].texts(), pa.list_(pa.string()))
    pq.write_table(pa.table({"town": whole["town"].texts(), "basket": lists}), tmp_path / "shop.parquet")
    (tmp_path / "items.csv").write_text("".join(f"{item};group {item[:2]};all\n" for item in ALPHABET))
    return tmp_path, whole


def compiled(folder: Path, text: str, columns):
    (folder / "policy.yaml").write_text(text)
    found = compile_policy(load(folder / "policy.yaml"), columns)
    assert found.plan is not None, found.diagnostics
    return found.plan


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("options", [RunOptions(), RunOptions(partition_rows=97, memory_limit=0, workers=1)])
def test_from_lists_to_categories(shop, options):
    folder, whole = shop
    plan = compiled(folder, POLICY.replace("SOURCE", "shop.parquet"), ("town", "basket"))
    outcome = execute(plan, None, folder / "runs", options)
    assert outcome.report.verdict == "released"
    file = outcome.run_dir / "released" / "study" / "study.parquet"
    expected = Counter(
        (town, tuple(sorted({f"group {i[:2]}" for i in row})))
        for town, row in zip(whole["town"].texts(), whole.sets["basket"].texts(), strict=True)
        if 1 <= len(row) <= 4
    )
    found = pq.read_table(file).to_pylist()
    assert Counter((row["town"], tuple(sorted(row["basket"]))) for row in found) == expected
    assert outcome.report.metrics["short.longer"].value == sum(len(r) > 4 for r in whole.sets["basket"].texts())
    (told,) = outcome.report.run["input"]["sets"]
    assert told["empty_sets"] == sum(not r for r in whole.sets["basket"].texts())
    assert told["distinct_items"] == 200
    assert b"i00" not in file.read_bytes().replace(b"group i0", b"")


def test_verify_and_judging_a_file_again(shop):
    folder, _ = shop
    plan = compiled(folder, POLICY.replace("SOURCE", "shop.parquet"), ("town", "basket"))
    outcome = execute(plan, None, folder / "runs")
    file = outcome.run_dir / "released" / "study" / "study.parquet"
    found = verify(outcome.run_dir, None, lambda policy, data: plan)
    assert found.changed == found.missing == found.extra == ()
    assert judge(plan, folder / "shop.parquet", file, "study").verdict == "released"


@pytest.mark.parametrize(("name", "kind"), [("t.dat", "transactions"), ("t.dat.gz", "transactions"), ("t.baskets", "")])
def test_files_of_sets_alone(tmp_path, name, kind):
    rows = [sorted({str(int(i[1:])) for i in row}) for row in sets(700)]
    mark = "," if name.endswith("baskets") else " "
    text = "".join(mark.join(row) + "\n" for row in rows).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    policy = (
        f"version: 1\nname: shop\nsource: {{path: {name}}}\nattributes: {{basket: {{role: items}}}}\n"
        f"releases: {{study: {{path: out-{name}}}, lists: {{path: lists.parquet}}}}\n"
    )
    plan = compiled(tmp_path, policy, None)
    assert plan.source.columns == ("basket",)
    outcome = execute(plan, None, tmp_path / "runs", RunOptions(partition_rows=50))
    out = (outcome.run_dir / "released" / "study" / f"out-{name}").read_bytes()
    out = gzip.decompress(out) if name.endswith("gz") else out
    released = Counter(tuple(sorted(x for x in line.split(mark) if x)) for line in out.decode().splitlines())
    assert released == Counter(map(tuple, rows))
    seen = preview(plan, None)
    assert seen.sets[0].empty == sum(not r for r in rows)
    assert [s.form for s in seen.sizes] == ["lists", "lists"]
    json.dumps(seen.document)


def test_a_release_of_sets_with_a_row_changed_is_found_out(tmp_path, monkeypatch):
    (tmp_path / "t.dat").write_text("1 2\n3\n4 5 6\n")
    policy = (
        "version: 1\nname: shop\nsource: {path: t.dat}\nattributes: {basket: {role: items}}\n"
        "releases: {study: {path: out.dat}}\n"
    )
    plan = compiled(tmp_path, policy, None)
    close = "ppdm_flow.sinks.transactions.algorithm.TransactionsSink.close"

    def tampered(sink):
        sink._file.write(b"7\n")
        sink._file.close()

    monkeypatch.setattr(close, tampered)
    with pytest.raises(PpdmError) as caught:
        execute(plan, None, tmp_path / "runs")
    assert caught.value.diagnostics[0].code == "PPF903"
