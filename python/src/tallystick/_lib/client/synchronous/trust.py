# Written by scripts/unasync.py from ../asynchronous/trust.py; do not edit.
"""Methods about issuers, trust and what the service says of itself."""

from __future__ import annotations

from ....documents import DidDocument, Payable, Status
from ...issue import SigningKey
from ...issuers import IssuerDocument, SignedStatement
from ...trust import CheckedTrust, TrustPin
from ...trust_store import FetchedTrust, TrustStore, pin_in, take_trust
from ..calls import trust
from .sender import Sender


class TrustMethods(Sender):
    """Issuers, the trust bundle, and what the service says of itself."""

    _trust: TrustStore

    def register_issuer(
        self,
        handle: str,
        key: SigningKey,
        *,
        audience: str | None = None,
        idempotency_key: str | None = None,
    ) -> IssuerDocument:
        """Registers ``did:svc:<handle>`` with proof that the caller holds the key.

        ``audience`` is the DID of the service, which is fetched when absent. Returns the new
        record, checked against its history.
        """
        if audience is None:
            audience = self._send(trust.service_did(self._service))
        call = trust.register_issuer(self._service, handle, key, audience, idempotency_key)
        return self._send(call)

    def submit_issuer_statement(
        self, statement: SignedStatement, *, idempotency_key: str | None = None
    ) -> IssuerDocument:
        """Adds, retires or revokes a key by a statement that ``sign_statement`` made.

        Returns the record after it, checked against its history.
        """
        call = trust.submit_issuer_statement(self._service, statement, idempotency_key)
        return self._send(call)

    def issuer(self, did: str) -> IssuerDocument:
        """Reads an issuer's record, and checks that its keys follow from its signed history."""
        return self._send(trust.issuer(self._service, did))

    def fetch_trust(self, *, pin: TrustPin | None = None, root: str | None = None) -> FetchedTrust:
        """Fetches the service's trust bundle, checks it, and saves it in the client's store.

        The pin is the given one, else the store's. Without a pin the first root seen is accepted:
        give ``root``, its fingerprint, or compare ``pin.root`` with what you know.
        """
        # The store is read after the fetch: a slow one doesn't undo what a quicker one saved.
        bundle = self._send(trust.fetch_trust(self._service))
        return take_trust(self._trust, bundle, pin, root)

    def trust_version(self, version: int, *, root: str | None = None) -> CheckedTrust:
        """Fetches the trust bundle of a version, and checks it but for its expiry.

        It must be of the given ``root``, else of the one that the client's store has pinned.
        Nothing is saved.
        """
        pin = pin_in(self._trust)
        expected = root if root is not None or pin is None else pin.root
        return self._send(trust.trust_version(self._service, version, expected))

    def get_did_document(self) -> DidDocument:
        """Reads the service's DID document."""
        return self._send(trust.get_did_document(self._service))

    def get_status(self) -> Status:
        """Reads the signed status of endpoints and models, which ``verify`` checks."""
        return self._send(trust.get_status(self._service))

    def list_payable_resources(self) -> Payable:
        """Lists what can be paid for by x402."""
        return self._send(trust.list_payable_resources(self._service))
