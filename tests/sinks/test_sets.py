"""Writers of sets: what is written comes back, and the bytes depend on the rows alone."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.local.writing import batch
from ppdm_flow.engine.streams.rebatching import partitions
from ppdm_flow.sdk import registry
from ppdm_flow.sinks.parquet import algorithm as parquet
from ppdm_flow.tables.sets import Baskets, Expansion, PackedSets, SeededSets
from ppdm_flow.tables.table import Table

SETTINGS = examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
NAME = st.sampled_from(["a", "b,b", 'q"', " lead", "trail ", "é", "12", "007", ";", "\t"]) | st.text(
    st.characters(exclude_characters="\0\r\n", exclude_categories=("Cs",)), min_size=1, max_size=4
)
NUMBER = st.integers(0, 10**18 - 1).map(str) | st.integers(0, 20).map(str)


def table(rows, towns=False) -> Table:
    sets = {"basket": Baskets.of([sorted(row) for row in rows], sorted({i for r in rows for i in r} | {"0unused"}))}
    made = Table({}, np.arange(len(rows), dtype=np.int64), sets)
    return made.replaced(Table.of({"town": [str(i % 3) for i in range(len(rows))]}).columns) if towns else made


class Files:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def write(self, kind, whole, size, end="", **options):
        self.count += 1
        path = self.folder / f"t{self.count}.{kind}{end}"
        spec = registry.load("sinks", kind)
        sink = spec.load()(spec.params.model_validate(options), path, whole.names)
        try:
            for start in range(0, len(whole), size):
                part = whole.take(np.arange(start, min(len(whole), start + size)))
                sink.write(batch(Table(part.columns, part.rows, {n: s.compact() for n, s in part.sets.items()})))
        finally:
            sink.close()
        return path

    def read(self, kind, path, names, **options):
        spec = registry.load("sources", kind)
        source = spec.load()(spec.params.model_validate(options), path)
        found = source.names()
        return list(partitions(source.batches(found), names, 5))


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


def same(files, kind, rows, end="", **options):
    whole = table(rows)
    path = files.write(kind, whole, 3, end, **options)
    found = [sorted(row) for t in files.read(kind, path, ("basket",), **options) for row in t.sets["basket"].texts()]
    assert found == [sorted(row) for row in rows]
    assert path.read_bytes() == files.write(kind, whole, max(1, len(rows)), end, **options).read_bytes()


@SETTINGS
@given(rows=st.lists(st.sets(NAME, max_size=5), max_size=12), mark=st.sampled_from([",", ";", "tab"]))
def test_names_come_back(files, rows, mark):
    same(files, "baskets", rows, delimiter=mark)
    same(files, "parquet", rows)


@SETTINGS
@given(rows=st.lists(st.sets(NUMBER, max_size=5), max_size=12), end=st.sampled_from(["", ".gz"]))
def test_numbers_come_back(files, rows, end):
    same(files, "transactions", rows, end)


@pytest.mark.parametrize(
    ("kind", "item"), [("transactions", "milk"), ("transactions", "007"), ("baskets", "a\nb"), ("baskets", "")]
)
def test_items_that_a_line_has_no_place_for(files, kind, item):
    with pytest.raises(DataError) as caught:
        files.write(kind, table([[item]]), 1)
    assert caught.value.diagnostics[0].code == "PPF677"
    assert item in ("", "a\nb") or item not in str(caught.value)


@pytest.mark.parametrize("kind", ["transactions", "baskets"])
def test_lines_hold_one_plain_set(files, kind):
    packed = Table({}, np.arange(1), {"basket": PackedSets.of(Baskets.of([["1"]]))})
    for whole in (table([["1"]], towns=True), packed):
        with pytest.raises(DataError) as caught:
            files.write(kind, whole, 1)
        assert caught.value.diagnostics[0].code == "PPF677"


def randomized(rows: int = 3000, items: int = 130):
    rng = np.random.default_rng(3)
    alphabet = pa.array(sorted(f"item-{i}" for i in range(items)))
    words = rng.integers(0, 1 << 63, (rows, 3), dtype=np.uint64)
    words[:, 2] &= np.uint64(0b11)
    sizes = rng.integers(0, 3, rows).astype(np.int32)
    expansion = Expansion((0.125, 0.25, 0.5), 2)
    seeds = rng.integers(0, 1 << 16, (rows, expansion.width)).astype(np.uint16)
    seeds *= np.arange(expansion.width) < sizes[:, None] + expansion.spare
    unpublished = np.where(sizes == 0, -1, sizes).astype(np.int32)
    return PackedSets(words, unpublished, alphabet), SeededSets(seeds, sizes, alphabet, expansion)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("size", [1, 700, 3000])
def test_bits_and_seeds_come_back_with_their_alphabet(files, size, monkeypatch):
    monkeypatch.setattr(parquet, "ROW_GROUP", 1024)
    for column in randomized():
        rows = np.arange(len(column), dtype=np.int64)
        whole = Table(Table.of({"town": ["x", None, "y"] * 1000}).columns, rows, {"basket": column})
        path = files.write("parquet", whole, size)
        found = files.read("parquet", path, ("town", "basket"))
        assert [t for part in found for t in part["town"].texts()] == whole["town"].texts()
        for part in found:
            back = part.sets["basket"]
            assert type(back) is type(column)
            assert back.categories.equals(column.categories)
            for one, other in zip(numbers(back), numbers(column.take(part.rows)), strict=True):
                assert np.array_equal(one, other)
        assert path.read_bytes() == files.write("parquet", whole, 999).read_bytes()


def numbers(column):
    return (column.words, column.sizes) if isinstance(column, PackedSets) else (column.seeds, column.sizes)


def test_bits_take_their_own_bytes_and_the_alphabet_stands_once(files):
    packed, _ = randomized()
    path = files.write("parquet", Table({}, np.arange(len(packed)), {"basket": packed}), 1000)
    assert path.stat().st_size < packed.words.nbytes * 1.15
    assert path.read_bytes().count(b"item-77") == 1
    with pq.ParquetFile(path) as file:
        assert file.metadata.row_group(0).column(0).compression == "UNCOMPRESSED"


def test_another_reader_sees_lists_and_bits(files):
    path = files.write("parquet", table([["b", "a"], []]), 2)
    assert duckdb.sql(f"SELECT basket FROM '{path}'").fetchall() == [(["a", "b"],), ([],)]
    packed, _ = randomized(4)
    path = files.write("parquet", Table({}, np.arange(4), {"basket": packed}), 4)
    bits = duckdb.sql(f"SELECT basket.bits FROM '{path}' LIMIT 1").fetchall()[0][0]
    assert bits == packed.words[0].astype("<u8").tobytes()


@pytest.mark.parametrize("damage", ["no document", "alphabet too short", "other form", "an item twice"])
def test_bits_without_their_document_are_refused(files, damage):
    packed, _ = randomized(4)
    path = files.write("parquet", Table({}, np.arange(4), {"basket": packed}), 4)
    whole = pq.read_table(path)
    key = b"ppdm_flow.sets"
    text = whole.schema.metadata[key]
    other = {
        "no document": b"{}",
        "alphabet too short": text.replace(b'"item-0", ' + b'"item-1", ', b""),
        "other form": text.replace(b"packed", b"seeded"),
        "an item twice": text.replace(b'"item-1",', b'"item-0",'),
    }[damage]
    assert other != text
    pq.write_table(whole.replace_schema_metadata({key: other}), files.folder / "bad.parquet", store_schema=False)
    with pytest.raises(DataError) as caught:
        files.read("parquet", files.folder / "bad.parquet", ("basket",))
    assert caught.value.diagnostics[0].code == "PPF751"
