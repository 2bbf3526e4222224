"""What a newer trust bundle takes back of the one that a client keeps (spec/trust.md)."""

from __future__ import annotations

from typing import cast

from .canonical import canonical_bytes
from .errors import TallyError
from .hashes import sha256_hex
from .json_types import JsonLike
from .shape import is_object
from .trust import TrustBundle
from .vanished import vanished

_DAMAGED = (
    "The bundle that was kept is damaged, so nothing shows what the newer one takes back of it."
)


def taken_back(saved: object, newer: TrustBundle) -> list[str]:
    """Names what a checked bundle takes back of a saved one, in the sentences of ``vanished``.

    That is nothing if their roots differ. ``saved`` is a bundle with its pin, as it was stored. If
    the bundle is not the one that the pin names, whatever it is instead, the only sentence says so.
    """
    kept = saved if is_object(saved) else {}
    pin, bundle = kept.get("pin"), kept.get("bundle")
    if not is_object(pin) or _hash_of(bundle) != pin.get("bundle_sha256"):
        return [_DAMAGED]
    earlier = cast(TrustBundle, bundle)
    return vanished(earlier, newer) if earlier["root"] == newer["root"] else []


def _hash_of(bundle: JsonLike) -> str:
    """An empty text for what JSON can't express: it has no hash."""
    try:
        return sha256_hex(canonical_bytes(bundle))
    except TallyError:
        return ""
