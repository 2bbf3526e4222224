"""Parameters and results of the methods of both clients."""

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
    """The settlement that the caller declares: it is signed as declared, never as confirmed."""

    tx: str


class EmitParams(TypedDict, total=False):
    """One of ``payload``, ``input`` and ``payload_sha256`` is the subject of the receipt."""

    payload: JsonValue
    """Any JSON. The service hashes it as JCS and does not store it."""
    input: str
    """A text. The service hashes it as UTF-8 and does not store it."""
    payload_sha256: str
    """SHA-256 (64 hex) of a payload that is not sent."""
    agent_did: str
    """DID of the agent; the client's when absent."""
    purpose: str
    """Not in nano."""
    content_type: str
    ok: bool
    """Whether the subject succeeded: true when absent."""
    settlement_reference: SettlementReference
    """Not in nano."""
    seal: SealReference
    """Result of ``seal_reference`` for a sealed subject. Not in nano."""
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
    """Parameters of ``issue``."""

    issuer_did: str | None
    issuer_verified: bool
