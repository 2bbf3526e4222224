"""The place of a hash in the anchor log, as JSON (specification 2.9)."""

from __future__ import annotations

from typing import TypeAlias, TypedDict, cast, final

from .._json.rules import MAX_SAFE_INTEGER
from ..errors import TallyError
from ..json_types import JsonValue
from ..shape import (
    Fault,
    integer,
    list_of,
    members,
    non_empty_text,
    pattern,
    rule,
    sha256_text,
    text,
    timestamp,
)
from .anchor_ref import AnchoredRef, parse_anchor_ref


@final
class PendingAnchor(TypedDict):
    """A hash that waits for its root to be posted."""

    anchor_ref: str
    batch_id: str
    """When that is scheduled, to the minute (UTC)."""
    eta_seconds: int
    """Seconds until then; 0 once that has passed and until the posting is final."""


class _Specified(TypedDict):
    anchor_ref: str
    network: str
    """The chain's name."""
    block_height: int
    tx_hash: str
    """``0x`` and 64 hex."""
    merkle_root: str
    """``sha256:<hex>``: the root that was posted."""
    merkle_path: list[str]
    """``sha256:<hex>`` each, from the leaf's sibling to the root's child."""
    verified_at: str
    """When the service saw that it was final. Nobody signed this."""


@final
class AnchoredResult(_Specified, total=False):
    """A hash whose root is on the chain."""

    leaf_index: int
    """The same as the reference's ``short_id`` says."""
    tree_size: int
    """Number of leaves under the root."""
    checkpoint: str
    """The log's signed note of that root."""


Anchor: TypeAlias = PendingAnchor | AnchoredResult
"""Tell them apart by ``batch_id``."""

_MAX_PATH = 53
"""A path in a tree of fewer than 2^53 leaves is no longer."""

_EXPECTED_PATH = f"a list of at most {_MAX_PATH} hashes"
_short_list = rule(
    _EXPECTED_PATH, lambda value: isinstance(value, list) and len(value) <= _MAX_PATH
)
_hashes = list_of(sha256_text, _EXPECTED_PATH)

_shape = members(
    {
        "anchor_ref": text,
        "network": non_empty_text,
        "block_height": integer(0),
        "tx_hash": pattern("0x[0-9a-f]{64}", "0x and 64 lower-case hex characters"),
        "merkle_root": sha256_text,
        "merkle_path": lambda value, path: _short_list(value, path) or _hashes(value, path),
        "verified_at": timestamp,
    },
    optional={"leaf_index": integer(0), "tree_size": integer(1), "checkpoint": non_empty_text},
)


def read_anchored_result(value: JsonValue) -> tuple[AnchoredResult, AnchoredRef]:
    """Reads an anchored result and its reference, and checks that its members agree.

    Members beyond the known ones are allowed; the last three may be absent. Raises
    ``anchor_invalid``, which names the field.
    """
    fault = _shape(value, "")
    if fault is not None:
        raise _invalid(fault)
    result = cast(AnchoredResult, value)
    ref = _ref_of(result)
    if ref is None:
        place = "urn:anchor:<network>:<block_height>:<tx_hash>:<short_id>"
        raise _invalid(Fault("anchor_ref", place))
    fault = _contradiction(result, ref)
    if fault is not None:
        raise _invalid(fault)
    return result, ref


def _invalid(fault: Fault) -> TallyError:
    return TallyError("anchor_invalid", str(fault), field=fault.field)


def _ref_of(result: AnchoredResult) -> AnchoredRef | None:
    try:
        ref = parse_anchor_ref(result["anchor_ref"])
    except TallyError:
        return None
    return ref if isinstance(ref, AnchoredRef) else None


def _contradiction(result: AnchoredResult, ref: AnchoredRef) -> Fault | None:
    """Returns the first member that contradicts the reference."""
    stated = {
        "network": (result["network"], ref.network),
        "block_height": (result["block_height"], ref.block_height),
        "tx_hash": (result["tx_hash"], ref.tx_hash),
        "leaf_index": (result.get("leaf_index", ref.index), ref.index),
    }
    for name, (value, expected) in stated.items():
        if value != expected:
            return Fault(name, f"{expected}, as in anchor_ref")
    if result.get("tree_size", MAX_SAFE_INTEGER + 1) <= ref.index:
        return Fault("tree_size", f"more than the leaf index {ref.index}")
    return None
