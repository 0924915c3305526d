"""Which 32 bytes are a public key of Ed25519 that somebody can own (RFC 8032, section 5.1).

OpenSSL takes any point of the curve. A point of small order verifies signatures that nobody made (of a fixed signature,
for one message in eight at least), so that a list of signers must not have one.
"""

from __future__ import annotations

from functools import lru_cache

_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_SQRT_MINUS_1 = pow(2, (_P - 1) // 4, _P)
_Point = tuple[int, int]


@lru_cache(maxsize=1024)
def is_owned_point(raw: bytes) -> bool:
    """Whether the bytes are the one encoding of a point of the curve whose order is not 1, 2, 4 or 8."""
    point = _decoded(raw) if len(raw) == 32 else None  # the length of any encoding
    if point is None:
        return False
    for _ in range(3):
        point = _doubled(point)
    return point != (0, 1)


def _decoded(raw: bytes) -> _Point | None:
    """Return x and y (RFC 8032, section 5.1.3); None where the bytes are no point, or not its one encoding."""
    number = int.from_bytes(raw, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * _SQRT_MINUS_1 % _P
    if x * x % _P != square or (x == 0 and sign):
        return None
    return (_P - x if x & 1 != sign else x), y


def _doubled(point: _Point) -> _Point:
    """Return the sum of a point with itself (RFC 8032, section 5.1, addition on the curve)."""
    x, y = point
    product = _D * x * x * y * y % _P
    return 2 * x * y * pow(1 + product, -1, _P) % _P, (y * y + x * x) * pow(1 - product, -1, _P) % _P
