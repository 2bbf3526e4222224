"""Clients of a service: ``Client`` and, for asyncio, ``AsyncClient``."""

from ..receipts.profiles import Profile
from .agent_auth import AgentAuth
from .asynchronous import AsyncClient
from .params import Counterparty, EmitParams, IssueParams, SettlementReference
from .retry import RetryPolicy
from .synchronous import Client, issue

__all__ = [
    "AgentAuth",
    "AsyncClient",
    "Client",
    "Counterparty",
    "EmitParams",
    "IssueParams",
    "Profile",
    "RetryPolicy",
    "SettlementReference",
    "issue",
]
