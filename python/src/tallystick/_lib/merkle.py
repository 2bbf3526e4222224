"""RFC 6962 Merkle trees with SHA-256 (spec/merkle.md). Ranges are half-open."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import reduce

from ._json.rules import MAX_SAFE_INTEGER
from .errors import TallyError

_HASH_LENGTH = 32


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf: SHA-256(0x00 || data), 32 bytes (RFC 9162, 2.1.1)."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node: SHA-256(0x01 || left || right) (RFC 9162, 2.1.1).

    Raises ``invalid_field`` unless both children are 32 bytes, without which two trees could share
    a root.
    """
    if not _is_hash(left) or not _is_hash(right):
        raise TallyError("invalid_field", "A node of a Merkle tree has two children of 32 bytes.")
    return hashlib.sha256(b"\x01" + left + right).digest()


def empty_root() -> bytes:
    """The root of the tree without leaves: SHA-256 of no bytes."""
    return hashlib.sha256(b"").digest()


class CompactRange:
    """The right edge of a tree that grows leaf by leaf: at most 53 hashes, in bounded memory."""

    def __init__(self) -> None:
        self._size = 0
        # Of the perfect subtrees, one for each set bit of the size, largest first.
        self._hashes: list[bytes] = []

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self._size

    def append(self, leaf: bytes) -> None:
        """Adds one leaf by its 32-byte hash (``leaf_hash``). Raises ``invalid_field``."""
        if not _is_hash(leaf):
            raise TallyError("invalid_field", "A leaf hash is 32 bytes.")
        joined, rest = leaf, self._size
        while rest & 1:
            joined = node_hash(self._hashes.pop(), joined)
            rest >>= 1
        self._hashes.append(joined)
        self._size += 1

    def root(self) -> bytes:
        """The root of the leaves so far, 32 bytes."""
        if not self._hashes:
            return empty_root()
        return reduce(lambda right, left: node_hash(left, right), reversed(self._hashes))


def merkle_root(leaf_hashes: Iterable[bytes]) -> bytes:
    """The root over leaf hashes of 32 bytes each, read once, in order, in bounded memory."""
    tree = CompactRange()
    for leaf in leaf_hashes:
        tree.append(leaf)
    return tree.root()


def inclusion_proof(leaf_hashes: Sequence[bytes], index: int) -> list[bytes]:
    """The path of the leaf at ``index``, leaf to root (RFC 9162, 2.1.3.1).

    Raises ``merkle_range`` unless ``0 <= index < len(leaf_hashes)``.
    """
    _require_leaf_index(index, len(leaf_hashes))
    return [
        merkle_root(leaf_hashes[begin:end]) for begin, end in _siblings(index, len(leaf_hashes))
    ]


def root_from_inclusion(index: int, size: int, leaf: bytes, path: Sequence[bytes]) -> bytes:
    """The root that an inclusion path leads to, to compare with a trusted one.

    Raises ``merkle_range`` unless ``0 <= index < size``, and ``invalid_field`` when the path has
    not exactly the expected length or any hash is not 32 bytes.
    """
    _require_leaf_index(index, size)
    steps = _siblings(index, size)
    if not _is_hash(leaf) or len(path) != len(steps) or not all(map(_is_hash, path)):
        raise TallyError(
            "invalid_field", f"The path of leaf {index} of {size} is malformed.", field="path"
        )
    joined = leaf
    for (begin, _), other in zip(steps, path, strict=True):
        joined = node_hash(other, joined) if begin <= index else node_hash(joined, other)
    return joined


def verify_inclusion(
    *, index: int, size: int, leaf: bytes, path: Sequence[bytes], root: bytes
) -> bool:
    """Whether the leaf hash is at ``index`` of the tree of ``size`` leaves under ``root``."""
    try:
        return root_from_inclusion(index, size, leaf, path) == root
    except TallyError:
        return False


def consistency_proof(leaf_hashes: Sequence[bytes], size1: int) -> list[bytes]:
    """The path from the first ``size1`` leaves to all (RFC 9162, 2.1.4.1).

    Raises ``merkle_range`` unless ``0 < size1 <= len(leaf_hashes)``.
    """
    size = len(leaf_hashes)
    if not _is_growth(size1, size):
        message = f"A tree of {size} leaves has no consistency proof from {size1}."
        raise TallyError("merkle_range", message)
    return [merkle_root(leaf_hashes[begin:end]) for begin, end in _growth_path(size1, size)]


def verify_consistency(
    *, size1: int, size2: int, root1: bytes, root2: bytes, path: Sequence[bytes]
) -> bool:
    """Whether the tree of ``size1`` leaves under ``root1`` starts the one of ``size2``.

    ``size1`` 0 is false, since any tree at all extends the empty one (RFC 9162, 2.1.4.2). At equal
    sizes nothing is hashed: the path is empty and the roots are the same bytes.
    """
    if not _is_growth(size1, size2):
        return False
    if size1 == size2:
        return len(path) == 0 and root1 == root2
    steps = _growth_path(size1, size2)
    if len(path) != len(steps) or not all(map(_is_hash, [root1, root2, *path])):
        return False
    older = newer = root1
    for (_, end), other in zip(steps, path, strict=True):
        if end == size1:
            older = newer = other
        elif end < size1:
            older, newer = node_hash(other, older), node_hash(other, newer)
        else:
            newer = node_hash(newer, other)
    return older == root1 and newer == root2


def _is_hash(value: object) -> bool:
    return isinstance(value, bytes) and len(value) == _HASH_LENGTH


def _is_tree_size(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_SAFE_INTEGER


def _is_growth(size1: int, size2: int) -> bool:
    return _is_tree_size(size1) and _is_tree_size(size2) and 0 < size1 <= size2


def _require_leaf_index(index: int, size: int) -> None:
    if not (_is_tree_size(index) and _is_tree_size(size) and index < size):
        raise TallyError("merkle_range", f"There is no leaf {index} in a tree of {size} leaves.")


def _split(begin: int, end: int) -> int:
    """Where the right child begins: the left one's width is the largest power of two below."""
    return begin + (1 << (end - begin - 1).bit_length() - 1)


def _siblings(index: int, size: int) -> list[tuple[int, int]]:
    """The siblings on the way from the leaf to the root, in that order."""
    passed: list[tuple[int, int]] = []
    begin, end = 0, size
    while end - begin > 1:
        middle = _split(begin, end)
        if index < middle:
            passed.append((middle, end))
            end = middle
        else:
            passed.append((begin, middle))
            begin = middle
    return passed[::-1]


def _growth_path(size1: int, size2: int) -> list[tuple[int, int]]:
    """The subtrees whose hashes lead from the first ``size1`` leaves to all, bottom to top."""
    passed: list[tuple[int, int]] = []
    begin, end = 0, size2
    while end != size1:
        middle = _split(begin, end)
        if size1 <= middle:
            passed.append((middle, end))
            end = middle
        else:
            passed.append((begin, middle))
            begin = middle
    if begin > 0:
        passed.append((begin, end))
    return passed[::-1]
