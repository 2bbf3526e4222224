"""Trust that is kept beyond one fetch, so that a service can't step back (spec/trust.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Protocol, TypeAlias, TypedDict, cast

from .errors import TallyError
from .json_types import JsonValue
from .shape import is_object
from .taken_back import taken_back
from .trust import CheckedTrust, Trust, TrustBundle, TrustPin, check_trust, read_pin


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
        """Returns what was saved last, ``None`` only if nothing was.

        Raises if it can't read that: without a pin, any bundle would pass.
        """

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
    """Returns the pin that a store holds. Raises ``trust_invalid`` if it is damaged."""
    return _pin_of(store.load())


def _pin_of(saved: object) -> TrustPin | None:
    if saved is None:
        return None
    return read_pin(saved.get("pin") if is_object(saved) else saved)


@dataclass(frozen=True)
class FetchedTrust(CheckedTrust):
    """Trust that was fetched just now."""

    taken_back: tuple[str, ...]
    """What the bundle takes back of the one that the store had.

    That is a revocation, a key, a log, an account, or a time that it said of them. One sentence
    each, for people to read. An honest service takes nothing back. If the store's bundle is
    damaged, the one sentence says so.
    """


def take_trust(
    store: TrustStore, document: JsonValue, pin: TrustPin | None, root: str | None
) -> FetchedTrust:
    """Checks a bundle by a pin, else by the store's, and puts it into the store.

    Raises whatever ``check_trust`` raises, and ``trust_invalid`` if the store's pin is damaged and
    none is given; then nothing is saved.
    """
    saved = store.load()
    checked = check_trust(document, pin=pin if pin is not None else _pin_of(saved), root=root)
    changes = [] if saved is None else taken_back(saved, checked.bundle)
    store.save({"pin": cast(SavedPin, asdict(checked.pin)), "bundle": checked.bundle})
    return FetchedTrust(checked.bundle, checked.pin, checked.issuers, tuple(changes))


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
    pin = _pin_of(saved)
    return check_trust(saved.get("bundle"), now=now, pin=pin).issuers
