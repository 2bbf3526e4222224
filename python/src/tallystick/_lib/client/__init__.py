"""Clients of a service: ``Client`` and, for asyncio, ``AsyncClient``."""

from ..receipts.profiles import Profile
from .agent_auth import AgentAuth
from .asynchronous.client import AsyncClient
from .issue import issue
from .params import (
    Counterparty,
    EmitParams,
    IssueParams,
    ModelClientOptions,
    SettlementReference,
    SignedManifest,
)
from .receipt_transport import AsyncReceiptTransport, CallReport, CollectedCall, ReceiptTransport
from .retry import RetryPolicy
from .synchronous.client import Client

__all__ = [
    "AgentAuth",
    "AsyncClient",
    "AsyncReceiptTransport",
    "CallReport",
    "Client",
    "CollectedCall",
    "Counterparty",
    "EmitParams",
    "IssueParams",
    "ModelClientOptions",
    "Profile",
    "ReceiptTransport",
    "RetryPolicy",
    "SettlementReference",
    "SignedManifest",
    "issue",
]
