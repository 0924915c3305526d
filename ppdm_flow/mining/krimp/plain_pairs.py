"""Which codes of little data are used together, and the most promising partner of each: what SLIM's unions are of."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from ppdm_flow.mining.krimp.plain_table import PlainTable


class PlainPairs:
    """``partner`` of a code and the bits that it promises, of codes that have one.

    Ties go to the lowest code, as in the compiled search: its tables are looked through in that order. ``steps`` tells
    how much work that was, in microseconds, about.
    """

    def __init__(self, table: PlainTable) -> None:
        self.partner = dict[int, int]()
        self.steps = 0.0
        self._table = table
        self._bits = dict[int, float]()
        self._round = dict[int, int]()
        self._clock = 0
        self._weight: defaultdict[int, dict[int, int]] = defaultdict(dict)
        self._tried: defaultdict[int, set[int]] = defaultdict(set)
        self._dirty = set[int]()

    def follow(self, was: Sequence[int], now: Sequence[int], mass: int) -> None:
        """Let the pairs follow a row of this weight, whose codes were ``was`` and are ``now``."""
        before, after = set(was), set(now)
        self._pair_up(before - after, before, -mass)
        self._pair_up(after - before, after, mass)

    def forget(self) -> None:
        """Look for all partners anew."""
        self._clock = 0
        self.partner.clear()
        self._bits.clear()
        self._round.clear()
        self._tried.clear()
        self._dirty.update(self._weight)

    def begin(self) -> None:
        """Find partners where that was not done yet."""
        if self._clock == 0:
            self._dirty.update(self._weight)
            self.look_again()

    def look_again(self) -> None:
        """Bring the partners up to date with the codes whose rows have changed."""
        self._clock += 1
        before = self._size_now()
        for a in self._dirty:
            for b in self._tried.pop(a, ()):
                if b != a:
                    self._tried[b].discard(a)
        for a in [*self._weight]:
            if a in self._dirty or self.partner.get(a) in self._dirty:
                self._look(a)
        for a in sorted(self._dirty):
            self.steps += len(self._weight[a]) / 2
            for b in self._weight[a]:
                if b not in self._dirty:
                    bits = self._promise(a, b, before)
                    if bits > self._bits.get(b, 0.0):
                        self.partner[b], self._bits[b] = a, bits
        self._dirty.clear()

    def next_union(self) -> int | None:
        """Return the code whose union with its partner promises most, or None where no union is of use."""
        a = self._foremost()
        while a is not None and self._round[a] != self._clock:
            self._look(a)
            a = self._foremost()
        return a

    def give_up(self, a: int) -> None:
        """Do not try the union of a code and its partner again as long as their rows stay the same."""
        b = self.partner[a]
        self._tried[a].add(b)
        self._tried[b].add(a)
        self._look(a)
        if self.partner.get(b) == a:
            self._look(b)

    def _pair_up(self, codes: set[int], beside: set[int], by: int) -> None:
        """Add to the pairs of each of ``codes`` with all ``beside`` it, to those of two of them once."""
        self._dirty |= codes
        self.steps += len(codes) * len(beside) / 6
        for code in codes:
            for other in beside:
                if other != code and (other not in codes or code < other):
                    weight = self._weight[code].get(other, 0) + by
                    if weight:
                        self._weight[code][other] = self._weight[other][code] = weight
                    else:
                        del self._weight[code][other], self._weight[other][code]

    def _foremost(self) -> int | None:
        best, most = None, 0.0
        self.steps += len(self._bits) / 25
        for a, bits in self._bits.items():
            if bits > most or (bits == most and best is not None and a < best):
                best, most = a, bits
        return best

    def _look(self, a: int) -> None:
        """Find the best partner of one code."""
        before, tried = self._size_now(), self._tried[a]
        partner, most = -1, 0.0
        self.steps += len(self._weight[a]) / 2
        for b in self._weight[a]:
            if b not in tried:
                bits = self._promise(a, b, before)
                if bits > most or (bits == most and b < partner):
                    partner, most = b, bits
        self._round[a] = self._clock
        if partner < 0:
            self.partner.pop(a, None)
            self._bits.pop(a, None)
        else:
            self.partner[a], self._bits[a] = partner, most

    def _promise(self, a: int, b: int, before: float) -> float:
        """Return by how many bits the union of two codes would make data and table smaller if it took all shared rows.

        Smets, Vreeken, "Slim: directly mining descriptive patterns", SDM 2012, sections 4 and 5.
        """
        table, both = self._table, self._weight[a][b]
        u, v = table.usage[a], table.usage[b]
        total, codes = table.total - both, table.codes + 1
        term = table.log_term
        bits = term(u - both) + term(v - both) + term(both) - term(u) - term(v)
        bits -= table.size[a] + table.size[b]
        if u == both:
            codes -= 1
            bits += table.size[a]
        if v == both:
            codes -= 1
            bits += table.size[b]
        return float(bits + before - (total + codes) * math.log2(total))

    def _size_now(self) -> float:
        """Return the part of the total size that depends on the sum of usages."""
        return (self._table.total + self._table.codes) * math.log2(max(self._table.total, 1))
