"""Keccak-256 and the account that made a signature, as Ethereum defines them.

Neither ``hashlib`` nor ``cryptography`` has them. Nothing here handles a secret.
"""

from __future__ import annotations

from typing import Final

_MASK: Final = (1 << 64) - 1
_RATE: Final = 136

_P: Final = 2**256 - 2**32 - 977
_N: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_G: Final = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)
"""Field, order and base point of secp256k1 (SEC 2, section 2.4.1)."""

_Point = tuple[int, int] | None


def keccak_256(data: bytes) -> bytes:
    """Keccak with the padding of the submission, which is not that of SHA-3 (FIPS 202)."""
    padded = bytearray(data + b"\x01" + bytes(-(len(data) + 1) % _RATE))
    padded[-1] |= 0x80
    lanes = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), _RATE):
        for index in range(_RATE // 8):
            at = start + 8 * index
            lanes[index % 5][index // 5] ^= int.from_bytes(padded[at : at + 8], "little")
        lanes = _permuted(lanes)
    return b"".join(lanes[index][0].to_bytes(8, "little") for index in range(4))


def recover_address(digest: bytes, signature: bytes) -> bytes | None:
    """The account that signed a 32-byte hash, 20 bytes (SEC 1, section 4.1.6).

    ``signature`` is r || s || v, where v is 0, 1, 27 or 28. ``None`` if no key can have made it.
    """
    if len(signature) != 65 or signature[64] not in (0, 1, 27, 28):
        return None
    r, s = (int.from_bytes(part, "big") for part in (signature[:32], signature[32:64]))
    if not 0 < r < _N or not 0 < s < _N:
        return None
    square = (pow(r, 3, _P) + 7) % _P
    y = pow(square, (_P + 1) // 4, _P)
    if y * y % _P != square:
        return None
    if y & 1 != signature[64] % 27:
        y = _P - y
    inverse = pow(r, -1, _N)
    message = int.from_bytes(digest, "big")
    key = _add(_times(-message * inverse % _N, _G), _times(s * inverse % _N, (r, y)))
    if key is None:
        return None
    return keccak_256(b"".join(part.to_bytes(32, "big") for part in key))[12:]


def _permuted(lanes: list[list[int]]) -> list[list[int]]:
    """Keccak-f[1600] (FIPS 202, section 3)."""
    register = 1
    for _ in range(24):
        columns = [a ^ b ^ c ^ d ^ e for a, b, c, d, e in lanes]
        change = [columns[(x - 1) % 5] ^ _rotated(columns[(x + 1) % 5], 1) for x in range(5)]
        lanes = [[lane ^ change[x] for lane in lanes[x]] for x in range(5)]
        x, y, current = 1, 0, lanes[1][0]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            turned = _rotated(current, (step + 1) * (step + 2) // 2)
            current, lanes[x][y] = lanes[x][y], turned
        for y in range(5):
            row = [lanes[x][y] for x in range(5)]
            for x in range(5):
                lanes[x][y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & _MASK)
        for bit in range(7):
            register = ((register << 1) ^ ((register >> 7) * 0x71)) & 0xFF
            if register & 2:
                lanes[0][0] ^= 1 << ((1 << bit) - 1)
    return lanes


def _rotated(lane: int, by: int) -> int:
    by %= 64
    return ((lane << by) | (lane >> (64 - by))) & _MASK


def _add(one: _Point, other: _Point) -> _Point:
    if one is None or other is None:
        return other if one is None else one
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % _P == 0:
        return None
    slope = 3 * x1 * x1 * pow(2 * y1, -1, _P) if one == other else (y2 - y1) * pow(x2 - x1, -1, _P)
    x = (slope * slope - x1 - x2) % _P
    return x, (slope * (x1 - x) - y1) % _P


def _times(factor: int, point: _Point) -> _Point:
    total: _Point = None
    while factor:
        if factor & 1:
            total = _add(total, point)
        point = _add(point, point)
        factor >>= 1
    return total
