"""Trust that is kept beyond one fetch, so that a service can't step back (spec/trust.md)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Protocol, TypeAlias, TypedDict, cast

from .errors import TallyError
from .trust import CheckedTrust, Trust, TrustBundle, TrustPin, check_trust


class SavedPin(TypedDict):
    """A ``TrustPin`` as plain JSON."""

    root: str
    version: int
    bundle_sha256: str


class SavedTrust(TypedDict):
    """Remembered trust in one service, as plain JSON."""

    pin: SavedPin
    bundle: TrustBundle


class TrustStore(Protocol):
    """Keeps the trust in one service beyond the process: in a file or a row of a database."""

    def load(self) -> SavedTrust | None:
        """Returns what was saved last, ``None`` if nothing was."""

    def save(self, saved: SavedTrust) -> None:
        """Stores the trust before it returns."""


KnownTrust: TypeAlias = Trust | CheckedTrust | TrustStore
"""Whom a verifier trusts: a checked bundle, a store that holds one, or a ``Trust`` of your own."""


class MemoryTrustStore:
    """A trust store that lasts as long as the process."""

    def __init__(self) -> None:
        self._saved: SavedTrust | None = None

    def load(self) -> SavedTrust | None:
        """Returns what was saved last, ``None`` if nothing was."""
        return self._saved

    def save(self, saved: SavedTrust) -> None:
        """Keeps the trust in memory."""
        self._saved = saved


def pin_in(store: TrustStore) -> TrustPin | None:
    """Returns the pin that a store holds."""
    saved = store.load()
    return None if saved is None else TrustPin(**saved["pin"])


def save_trust(store: TrustStore, checked: CheckedTrust) -> None:
    """Puts a checked bundle and its pin into a store."""
    store.save({"pin": cast(SavedPin, asdict(checked.pin)), "bundle": checked.bundle})


def issuers_in(trust: KnownTrust | None, now: datetime) -> Trust:
    """Returns the issuers that a verifier knows; what a store holds is checked again.

    Raises ``trust_expired``, ``trust_unavailable`` for a store that holds nothing, and whatever
    ``check_trust`` raises for what a store holds.
    """
    if trust is None:
        return Trust()
    if isinstance(trust, Trust):
        return trust
    if isinstance(trust, CheckedTrust):
        return trust.issuers_at(now)
    saved = trust.load()
    if saved is None:
        message = "The trust store holds nothing yet. Fill it once: client.fetch_trust()."
        raise TallyError("trust_unavailable", message)
    return check_trust(saved["bundle"], now=now, pin=TrustPin(**saved["pin"])).issuers
