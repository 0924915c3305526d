"""``ppdm-flow randomize``: clients randomize their own sets, and a server mines what they send."""

from __future__ import annotations

import io
import json
import os
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest

import ppdm_flow as pf
from ppdm_flow.core.draws import RunKey
from ppdm_flow.mining.transactions.operators import TransactionOperator, document

POLICY = """version: 1
name: shop
source: {{path: shop.baskets}}
attributes: {{basket: {{role: items}}}}
randomness: {{mode: reproducible, seed: shop}}
steps:
  randomize: {{use: randomize_transactions, with: {how}}}
releases:
  baskets: {{path: shop.parquet, shuffle: false}}
"""
ITEMS = [f"item, {n}" for n in range(24)]
HOW = {
    "cut_and_paste": "{form: packed, cutoff: 4, insertion: 0.3}",
    "seeds": "{form: seeded, cutoff: 4, insertion: 0.25}",
    "select_a_size": "{operator: select_a_size, insertion: 0.2, retained: {1: [0.5, 0.5], 2: [0.2, 0.3, 0.5]}}",
    "uniform": "{operator: uniform, keep: 0.5}",
    "inserted": "{operator: uniform, keep: 0.5, insert: 7}",
    "none": "{operator: none}",
}
KEY = RunKey.from_seed("shop").step("randomize")


@pytest.fixture(scope="module")
def sets() -> list[list[str]]:
    rng = np.random.default_rng(6)
    weights = 1.0 / np.arange(1, len(ITEMS) + 1)
    chosen = [rng.choice(ITEMS, rng.integers(1, 3), replace=False, p=weights / weights.sum()) for _ in range(3000)]
    return [sorted(map(str, each)) for each in chosen]


def line(items: list[str]) -> str:
    return ",".join(f'"{item}"' for item in items)


@pytest.fixture(scope="module")
def home(tmp_path_factory, sets):
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.baskets").write_text("\n".join(map(line, sets)) + "\n")
    return folder


@pytest.fixture(scope="module")
def released(home, cli):
    """Each kind of operator, and what a run released with it."""

    def of(kind: str):
        folder = home / f"runs-{kind}"
        if not folder.exists():
            (home / f"{kind}.yaml").write_text(POLICY.format(how=HOW[kind]))
            done = cli("run", f"{kind}.yaml", "--out", folder.name, "-q", cwd=home)
            assert done.returncode == 0, done.stdout + done.stderr
        (run,) = (folder / "shop").iterdir()
        return run / "released/baskets"

    return of


def operator_file(folder, operator: TransactionOperator, items: list[str], **more) -> object:
    entry = {"attribute": "basket", "form": "transactions", "operator": document(operator), "items": items, **more}
    path = folder / "operator.json"
    path.write_text(json.dumps(entry))
    return path


@pytest.fixture
def typed(here, monkeypatch, tmp_path):
    """Run `randomize` on what comes from stdin, in a folder with ``operator.json``."""

    def run(given: bytes, *words):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        return here("randomize", *words, cwd=tmp_path)

    return run


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("kind", HOW)
def test_with_one_key_clients_make_the_bytes_of_the_step(here, home, released, tmp_path, kind):
    key = tmp_path / "key"
    key.write_text(KEY.hex())
    key.chmod(0o600)
    folder = released(kind)
    words = ("--operator", folder / "operator.json", "--key-file", key, "-o", tmp_path / "sent.jsonl")
    done = here("randomize", home / "shop.baskets", *words)
    assert done.returncode == 0, done.stderr
    assert "PPF444" in done.stderr
    column = pq.read_table(folder / "shop.parquet").column("basket").combine_chunks()
    sent = [json.loads(text) for text in (tmp_path / "sent.jsonl").read_text().splitlines()]
    assert [each["size"] for each in sent] == column.field("size").to_pylist()
    if kind == "seeds":
        assert [bytes.fromhex(each["seed"]) for each in sent] == column.field("seed").to_pylist()
        return
    alphabet = json.loads((folder / "operator.json").read_text())["operators"][0]["items"]
    bits = np.array([np.frombuffer(row, np.uint8) for row in column.field("bits").to_pylist()])
    there = np.unpackbits(bits, axis=1, count=len(alphabet), bitorder="little")
    assert [each["items"] for each in sent] == [[alphabet[i] for i in np.flatnonzero(row)] for row in there]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("kind", ["cut_and_paste", "seeds", "inserted"])
def test_the_server_mines_what_clients_sent(here, home, released, sets, tmp_path, kind):
    """5 standard errors: a chance of 2e-5 to fail over all itemsets; keys are fresh."""
    words = ("--operator", released(kind) / "operator.json")
    done = here("randomize", home / "shop.baskets", *words, "-o", tmp_path / "sent.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    mined = here("mine", tmp_path / "sent.jsonl", *words, "--min-support", "0.1", "--format", "json", "-q")
    found = json.loads(mined.stdout)
    assert found["transactions"] == len(sets)
    true = Counter(item for each in sets for item in each)
    singles = [each for each in found["itemsets"] if len(each["items"]) == 1]
    assert singles
    for each in singles:
        assert abs(each["support"] - true[each["items"][0]] / len(sets)) < 5 * each["sigma"]


def test_one_set_and_a_stream_of_numbers(typed, tmp_path):
    """Each line is answered by one line; a fresh key makes another one each time."""
    operator_file(
        tmp_path, TransactionOperator.cut_and_paste({0: 1, 2: 2}, {0: 0.5, 2: 0.5}, 200), [str(i) for i in range(200)]
    )
    said = [typed(b"17 004\n\n", "--input-format", "transactions") for _ in range(2)]
    assert all(done.returncode == 0 for done in said)
    first, second = ([json.loads(text) for text in done.stdout.splitlines()] for done in said)
    assert [each["size"] for each in first] == [2, 0]
    assert first != second


@pytest.mark.parametrize(("rho", "warned"), [(1e-300, True), (0.2, False)])
def test_an_operator_that_changes_hardly_a_set_is_said_to(typed, tmp_path, rho, warned):
    operator = TransactionOperator.select_a_size({1: [0.0, 1.0], 2: [0.2, 0.3, 0.5]}, {1: rho, 2: 0.2}, 3)
    operator_file(tmp_path, operator, ["a", "b", "c"])
    assert ("leaves sets as they are" in typed(b"a\n").stderr) is warned


@pytest.mark.parametrize(
    ("operator", "warned"),
    [
        (
            TransactionOperator.cut_and_paste({2: 40}, {2: 1e-9}, 24),
            True,
        ),  # 95 % of the sets stay as they are, none gets an item
        (TransactionOperator.cut_and_paste({2: 1}, {2: 0.4}, 24), False),
        (TransactionOperator.uniform([2], 0.9, 24), True),
        (TransactionOperator.uniform([2], 0.9, 24, 5), False),
        (TransactionOperator.cut_and_paste({2: 1}, {2: 0.4}, 2), False),  # there are no other items
    ],
)
def test_an_operator_that_adds_hardly_an_item_is_said_to(typed, tmp_path, operator, warned):
    operator_file(tmp_path, operator, [chr(97 + i) for i in range(operator.alphabet)])
    assert ("adds no other item" in typed(b"a,b\n").stderr) is warned


def test_a_number_of_thousands_of_digits_is_no_item(typed, tmp_path):
    operator_file(tmp_path, TransactionOperator.cut_and_paste({1: 1}, {1: 0.5}, 3), ["0", "1", "2"])
    done = typed(b"0002\n000\n" + b"1" * 5000 + b"\n", "--input-format", "transactions")
    assert (done.returncode, done.stdout.count("\n")) == (2, 2)
    assert "PPF777" in done.stderr


def test_programs_randomize_by_the_same_draws(released, sets):
    operator = released("cut_and_paste") / "operator.json"
    assert pf.randomize(sets[:50], operator, key=KEY) == pf.randomize([set(s) for s in sets[:50]], operator, key=KEY)
    assert pf.randomize(sets[:50], operator) != pf.randomize(sets[:50], operator)
    with pytest.raises(pf.DataError, match="not among those"):
        pf.randomize([["nothing known"]], operator)
    with pytest.raises(pf.UsageError, match="32 bytes"):
        pf.randomize(sets[:1], operator, key=b"short")
    with pytest.raises(pf.UsageError, match="sets"):
        pf.randomize(["bread"], operator)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a,b,c", "PPF777"),
        ("secret", "PPF777"),
        ("a,a", "PPF777"),
        ('"a', "PPF755"),
        ("a\udcff", "PPF704"),
    ],
)
def test_a_set_that_does_not_fit_stops_the_stream(typed, tmp_path, text, code):
    operator_file(tmp_path, TransactionOperator.cut_and_paste({1: 1, 2: 2}, {1: 0.5, 2: 0.5}, 3), ["a", "b", "c"])
    done = typed(b"a\n" + text.encode(errors="surrogateescape") + b"\nb\n", "-")
    assert (done.returncode, done.stdout.count("\n")) == (2, 1)
    assert code in done.stderr
    assert "2 has" in done.stderr or "2 is" in done.stderr
    assert "secret" not in done.stderr


BROKEN = {
    "no items": ({"items": []}, "PPF440"),
    "fewer items": ({"items": ["a", "b"]}, "PPF440"),
    "an item twice": ({"items": ["a", "b", "b"]}, "PPF736"),
    "no texts": ({"items": [1, 2, 3]}, "PPF736"),
    "half a character": ({"items": ["a", "b", "\ud800"]}, "PPF736"),
    "an attribute that is no text": ({"attribute": "\ud800"}, "PPF736"),
    "another form": ({"form": "fine_grain"}, "PPF440"),
    "unknown sets": ({"sets": "lists"}, "PPF736"),
    "damaged": ({"operator": {"family": "mixer", "alphabet": 3, "sizes": []}}, "PPF440"),
    "no seeds": ({"sets": "seeded", "operator": document(TransactionOperator.uniform([1], 0.5, 3))}, "PPF778"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_an_operator_that_clients_cannot_use(typed, tmp_path, what):
    changed, code = BROKEN[what]
    path = operator_file(tmp_path, TransactionOperator.cut_and_paste({1: 1}, {1: 0.5}, 3), ["a", "b", "c"])
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    done = typed(b"a\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert code in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
def test_a_key_that_others_may_read_is_refused(typed, tmp_path):
    operator_file(tmp_path, TransactionOperator.none([1], 3), ["a", "b", "c"])
    (tmp_path / "key").write_text(KEY.hex())
    (tmp_path / "key").chmod(0o644)
    assert "PPF920" in typed(b"a\n", "--key-file", "key").stderr
    (tmp_path / "key").chmod(0o600)
    done = typed(b"a\n", "--key-file", "key")
    assert json.loads(done.stdout) == {"size": 1, "items": ["a"]}
    assert "leaves sets as they are" in done.stderr
    (tmp_path / "key").write_text("00")
    assert "PPF443" in typed(b"a\n", "--key-file", "key").stderr


SENT = [
    "no json",
    "[]",
    '{"size": 1}',
    '{"size": 9, "items": ["a"]}',
    '{"size": true, "items": ["a"]}',
    '{"size": 1, "items": ["a", "a"]}',
    '{"size": 1, "items": ["secret"]}',
    '{"size": 1, "items": "a"}',
    '{"size": 1, "items": ["\\ud800"]}',
    '{"size": 1' + "0" * 5000 + ', "items": ["a"]}',
    '{"size": 1, "items": ["a"], "name": "secret"}',
    '{"size": 1, "seed": "00"}',
]


@pytest.mark.parametrize("text", SENT)
def test_a_line_that_no_client_made_is_refused(here, tmp_path, text):
    operator_file(tmp_path, TransactionOperator.cut_and_paste({1: 1}, {1: 0.5}, 3), ["a", "b", "c"])
    (tmp_path / "sent.jsonl").write_text('{"size": 1, "items": ["a"]}\n' + text + "\n")
    done = here("mine", "sent.jsonl", "--min-support", "0.1", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "PPF441" in done.stderr
    assert "line 2" in done.stderr
    assert "secret" not in done.stderr


def test_seeds_that_no_client_made_are_refused(here, tmp_path):
    operator_file(tmp_path, TransactionOperator.cut_and_paste({1: 1}, {1: 0.5}, 3), ["a", "b", "c"], sets="seeded")
    (sent,) = pf.randomize([["a"]], tmp_path / "operator.json")
    for seed in ("", "zz", sent["seed"] + "00", 3):
        (tmp_path / "sent.jsonl").write_text(json.dumps(sent | {"seed": seed}))
        done = here("mine", "sent.jsonl", "--min-support", "0.1", cwd=tmp_path)
        assert (done.returncode, "PPF441" in done.stderr) == (2, True)
