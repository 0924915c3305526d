"""Random CSV files, as our reader, Python's `csv` in strict mode and DuckDB read them.

    python tests/campaigns/csv_files.py [--count 2000] [--seed 1] [--keep FOLDER]

A third of the files is written by a dialect, a third put together of signs at random, a third is written and then
damaged. Where both others accept a file and agree, ours has the same cells or refuses it; where they differ, it refuses
it or has the cells of one of them. Ends with 1 where that is not so, where our reader raises anything but a diagnostic,
or where it accepts less than 80 % of the files on which both others agree.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.sdk import registry

Records = list[list[str]]
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "cp1252", "latin-1", "utf-16", "utf-16-le")
TAKE_MARK = ("utf-8-sig", "utf-16")
DELIMITERS = (",", ",", ";", "\t", "|", " ")
MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
WORDS = ("a", "b c", "Zoë", "12", "3.5", "x1", "NULL", "", "", "Ada Berg")
SIGNS = ('"', '""', ",", ";", "\n", "\r\n", "\\", '\\"', "\\\\", " ", "\t", "|", "'", "q", "é", "\\N", "\r", MARK)
ENOUGH = 0.8


@dataclass(frozen=True)
class RandomFile:
    """The text of a file, and the options of its reader."""

    text: str
    encoding: str
    delimiter: str
    escape: str | None
    width: int

    @property
    def bytes(self) -> bytes:
        return self.text.encode(self.encoding, "replace")

    @property
    def decoded(self) -> str:
        """The text without the one byte order mark that a file may begin with."""
        text = self.bytes.decode(self.encoding)
        return text if self.encoding in TAKE_MARK else text.removeprefix(MARK)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="where files go that are read wrongly")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts, wrong = campaign(options.count, options.seed, Path(folder), options.keep)
    for outcome, count in sorted(counts.items()):
        print(f"{count:6} {outcome}")
    print(f"accepted of those on which both agree: {accepted_share(counts):.1%}")
    for each in wrong:
        print(each)
    sys.exit(1 if wrong or accepted_share(counts) < ENOUGH else 0)


def campaign(count: int, seed: int, folder: Path, keep: Path | None = None) -> tuple[Counter[str], list[str]]:
    """Return how often each outcome came up, and a line for each that must not."""
    counts, wrong = Counter[str](), []
    for number in range(seed, seed + count):
        made = random_file(random.Random(number))
        path = folder / "file.csv"
        path.write_bytes(made.bytes)
        outcome = compare(path, made)
        counts[outcome] += 1
        if outcome.startswith("WRONG"):
            wrong.append(f"seed {number}: {outcome}: {made}")
            if keep is not None:
                keep.mkdir(exist_ok=True)
                (keep / f"{number}.csv").write_bytes(made.bytes)
    return counts, wrong


def accepted_share(counts: Counter[str]) -> float:
    """Return the share of files that ours accepts among those on which both others agree."""
    same, refused = counts["both agree: the same cells"], counts["both agree: refused"]
    return same / (same + refused) if same + refused else 1.0


def random_file(draw: random.Random) -> RandomFile:
    width = draw.choice((1, 2, 3, 3, 4, 7))
    delimiter = draw.choice(DELIMITERS)
    escape = draw.choice((None, None, "\\"))
    end = draw.choice(("\n", "\n", "\r\n", "\r"))
    kind = draw.choice(("written", "together", "damaged"))
    header = [f"c{i}" for i in range(width)]
    if kind == "together":
        text = _put_together(draw, header, delimiter, end)
    else:
        text = _written(draw, header, delimiter, escape, end)
        if kind == "damaged":
            text = _damaged(draw, text)
    if draw.random() < 0.1:
        at = draw.choice((0, 0, text.find(end) + len(end)))
        text = text[:at] + MARK * draw.randint(1, 2) + text[at:]
    return RandomFile(text, draw.choice(ENCODINGS), delimiter, escape, width)


def _written(draw: random.Random, header: Sequence[str], delimiter: str, escape: str | None, end: str) -> str:
    signs = draw.sample(SIGNS, draw.randint(0, 5))
    out = io.StringIO(newline="")
    quoting = draw.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    writer = csv.writer(
        out, delimiter=delimiter, lineterminator=end, quoting=quoting, escapechar=escape, doublequote=escape is None
    )
    rows = [[_cell(draw, signs) for _ in header] for _ in range(draw.randint(1, 12))]
    writer.writerows([header, *rows])
    text = out.getvalue()
    return text[: -len(end)] if draw.random() < 0.2 else text


def _put_together(draw: random.Random, header: Sequence[str], delimiter: str, end: str) -> str:
    signs = draw.sample(SIGNS, draw.randint(0, 3))
    rows = []
    for _ in range(draw.randint(1, 8)):
        cells = [_cell(draw, signs) for _ in header]
        cells = [f'"{cell}"' if draw.random() < 0.4 else cell for cell in cells]
        rows.append(cells)
    if draw.random() < 0.15:  # ragged
        rows[draw.randrange(len(rows))].append("more")
    lines = [delimiter.join(row) for row in [header, *rows]]
    if draw.random() < 0.1:
        lines.insert(draw.randint(0, len(lines)), "")
    return end.join(lines) + (end if draw.random() < 0.8 else "")


def _damaged(draw: random.Random, text: str) -> str:
    for _ in range(draw.choice((1, 1, 2, 3))):
        at = draw.randrange(len(text))
        match draw.randrange(3):
            case 0:
                text = text[:at] + text[at + 1 :]
            case 1:
                text = text[:at] + draw.choice(SIGNS) + text[at:]
            case _:
                text = text[:at] + text[at] + text[at:]
    return text


def _cell(draw: random.Random, signs: Sequence[str]) -> str:
    cell = draw.choice(WORDS)
    while signs and draw.random() < 0.4:
        at = draw.randint(0, len(cell))
        cell = cell[:at] + draw.choice(signs) + cell[at:]
    return cell


def compare(path: Path, made: RandomFile) -> str:
    """Return how ours compares with the others; what must not be begins with WRONG."""
    python, other = by_python(made), by_duckdb(path, made)
    try:
        ours = by_us(path, made)
    except PpdmError:
        ours = None
    except Exception as error:  # noqa: BLE001  # any exception is what we look for
        return f"WRONG: raised {type(error).__name__}"
    readings = [each for each in (python, other) if each is not None]
    if len(readings) == 2 and python == other:
        if ours is None:
            return "both agree: refused"
        return "both agree: the same cells" if ours == python else "WRONG: both agree, and ours has other cells"
    what = ("both refuse", "one refuses", "both differ")[len(readings)]
    if ours is None:
        return f"{what}: refused"
    return f"{what}: the cells of one" if ours in readings else f"WRONG: {what}, and ours has other cells"


def by_us(path: Path, made: RandomFile) -> Records:
    spec = registry.load("sources", "csv")
    options = {"delimiter": made.delimiter, "encoding": made.encoding.removesuffix("-sig"), "escape": made.escape}
    source = spec.load()(spec.params.model_validate(options), path)
    names = source.names()
    rows = [list(names)]
    for batch in source.batches(names):
        rows += [[cell or "" for cell in row] for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)]
    return rows


def by_python(made: RandomFile) -> Records | None:
    """Return the records as Python reads them; lines without anything are records of one column only."""
    try:
        records = list(
            csv.reader(
                io.StringIO(made.decoded, newline=""),
                delimiter=made.delimiter,
                escapechar=made.escape,
                doublequote=made.escape is None,
                strict=True,
            )
        )
    except (csv.Error, UnicodeDecodeError):
        return None
    return [record or [""] for record in records if record or made.width == 1]


def by_duckdb(path: Path, made: RandomFile) -> Records | None:
    """Return the records as DuckDB reads them from the same text in UTF-8."""
    copy = path.with_suffix(".utf8")
    copy.write_bytes((MARK + made.decoded).encode())  # DuckDB takes one away
    columns = {f"c{i}": "VARCHAR" for i in range(made.width)}
    try:
        rows = duckdb.execute(
            "SELECT * FROM read_csv($path, auto_detect=false, header=false, strict_mode=true, quote='\"',"
            f" delim=$delimiter, escape=$escape, columns={columns})",
            {"path": str(copy), "delimiter": made.delimiter, "escape": made.escape or '"'},
        ).fetchall()
    except duckdb.Error:
        return None
    return [[cell or "" for cell in row] for row in rows]


if __name__ == "__main__":
    main()
