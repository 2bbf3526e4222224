"""Proofs that a root signed two trust bundles that contradict each other (spec/trust.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal, cast

from .errors import TallyError
from .json_types import JsonObject, JsonValue
from .receipts.read import read_json
from .shape import constant, is_object, list_of, members, rule
from .trust import TrustPin, check_trust

_shape = members(
    {
        "type": constant("svc-trust-fork-v1"),
        "bundles": list_of(rule("an object", is_object), "two bundles", most=2),
    },
    closed=True,
)
_ANY_TIME = datetime.fromtimestamp(0, timezone.utc)


@dataclass(frozen=True)
class TrustFork:
    """What a fork file of trust proves."""

    root: str
    """``sha256:<hex>`` of the root's public key."""
    kind: Literal["version", "link"]
    """``link``: the second bundle names another one before it than the first."""
    bundles: tuple[TrustPin, TrustPin]


def verify_trust_fork(document: JsonValue | bytes) -> TrustFork:
    """Checks a fork file by itself, without network or trust; the bundles may have expired.

    ``document`` is JSON as ``bytes`` or ``str``, or parsed. Raises ``trust_fork_invalid`` unless it
    proves a fork, and as ``check_trust`` for bundles that are not both of one root.
    """
    file = cast(JsonObject, read_json(document))
    fault = _shape(file, "")
    if fault is not None:
        raise TallyError("trust_fork_invalid", str(fault), field=fault.field)
    bundles = cast(list[JsonValue], file["bundles"])
    if len(bundles) < 2:
        raise _invalid("A proof has two bundles.")
    first = check_trust(bundles[0], now=_ANY_TIME).pin
    other = check_trust(bundles[1], now=_ANY_TIME, root=first.root)
    second, named = other.pin, other.bundle.get("previous_sha256")
    if first.bundle_sha256 == second.bundle_sha256:
        raise _invalid("Both bundles are the same.")
    if first.version == second.version:
        return TrustFork(first.root, "version", (first, second))
    if first.version + 1 != second.version or named is None:
        raise _invalid("The second bundle does not name the one before it, or is not the next.")
    if named == first.bundle_sha256:
        raise _invalid(f"Version {second.version} follows version {first.version}.")
    return TrustFork(first.root, "link", (first, second))


def _invalid(message: str) -> TallyError:
    return TallyError("trust_fork_invalid", message)
