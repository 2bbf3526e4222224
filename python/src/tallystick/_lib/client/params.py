"""What the methods of both clients take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from ...documents import EvidenceManifest
from ..issue import SigningKey
from ..json_types import JsonValue
from ..sealing import SealReference


class _SettlementRequired(TypedDict):
    rail: str
    chain_id: int
    asset: str


class SettlementReference(_SettlementRequired, total=False):
    """Where the caller says that it was paid: signed as declared, never as confirmed."""

    tx: str


class EmitParams(TypedDict, total=False):
    """One of ``payload``, ``input`` and ``payload_sha256`` is what is receipted."""

    payload: JsonValue
    """Any JSON; hashed as JCS by the service, and not stored."""
    input: str
    """A text; hashed as UTF-8 by the service, and not stored."""
    payload_sha256: str
    """The SHA-256 (64 hex) of a payload that stays with the caller."""
    agent_did: str
    """The agent; the client's when absent."""
    purpose: str
    """Not in nano."""
    content_type: str
    ok: bool
    """Whether what is receipted succeeded: true when absent."""
    settlement_reference: SettlementReference
    """Not in nano."""
    seal: SealReference
    """What ``seal_reference`` says of a sealed subject; not in nano."""
    sealed_evidence_ref: str | None
    """pq only."""
    auditor_verifier: bool
    """pq only."""
    anchor: bool


@dataclass(frozen=True)
class SignedManifest:
    """The manifest of an evidence bundle, and the exact text that is signed (spec/evidence.md)."""

    manifest: EvidenceManifest
    text: str


class ModelClientOptions(TypedDict):
    """Options of the clients of OpenAI and Anthropic: ``OpenAI(**options)``."""

    base_url: str
    api_key: str
    """``unused`` if there is none, since those clients insist on one. It is not sent."""
    http_client: Any
    """A client of ``httpx2``, or of ``httpx`` if that is not installed."""


class Counterparty(TypedDict, total=False):
    did: str
    name: str
    jurisdiction: str
    regulated: bool


class _IssueRequired(TypedDict):
    symbol: str
    units: int
    amount_usd: float
    recipient: str
    issuer_sk: SigningKey


class IssueParams(_IssueRequired, total=False):
    """See ``issue``."""

    issuer_did: str | None
    issuer_verified: bool
