"""Fields with `|` between them and no quotes: a format with an ending of its own."""

from __future__ import annotations

import pyarrow as pa


class PipesSource:
    def __init__(self, params, path):
        self.mark = params.mark
        self.path = path

    def names(self):
        with self.path.open(encoding="utf-8") as file:
            return tuple(self._cells(file.readline()))

    def batches(self, columns):
        names = self.names()
        with self.path.open(encoding="utf-8") as file:
            rows = [self._cells(line) for line in file][1:]
        cells = [[row[names.index(name)] or None for row in rows] for name in columns]
        yield pa.record_batch([pa.array(each, pa.string()) for each in cells], list(columns))

    def _cells(self, line):
        return line.rstrip("\n").split(self.mark)


class PipesSink:
    def __init__(self, params, path, names):
        self.mark = params.mark
        self.file = path.open("w", encoding="utf-8")
        self.file.write(self.mark.join(names) + "\n")

    def write(self, batch):
        for row in zip(*(column.to_pylist() for column in batch.columns)):
            self.file.write(self.mark.join(cell or "" for cell in row) + "\n")

    def close(self):
        self.file.close()
