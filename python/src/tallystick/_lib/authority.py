"""Logs and posting accounts whose anchors count, present and earlier (spec/trust.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, cast

from .shape import bytes32, integer, key_id, list_of, members, non_empty_text, nullable, timestamp
from .timestamps import seconds_of


class KeyReference(TypedDict):
    key_id: str
    public_key: str


class LogAuthority(KeyReference):
    origin: str


class ChainAuthority(TypedDict):
    network: str
    chain_id: int
    address: str


class Span(TypedDict):
    """From ``valid_from`` on, until just before ``valid_until``; ``None``: not known since when."""

    valid_from: str | None
    valid_until: str


class EarlierLog(LogAuthority, Span):
    last_size: int | None
    """Leaves of the last tree that counts; ``None`` where that is not known."""


class EarlierChain(ChainAuthority, Span):
    origin: str
    """The log for which the account posted."""


class AnchorHistory(TypedDict):
    """Logs and posting accounts that a service had earlier."""

    logs: list[EarlierLog]
    chains: list[EarlierChain]


class Payee(TypedDict):
    """Account that is paid for a service, and its token."""

    chain_id: int
    asset: str
    """Asset as receipts name it: ``USDC``."""
    token: str
    """The token's contract: ``0x`` and 40 hex."""
    decimals: int
    address: str
    """Address that is paid, or was paid at some time: ``0x`` and 40 hex."""


class _Optional(TypedDict, total=False):
    payees: list[Payee]
    history: AnchorHistory


class AnchorAuthority(_Optional):
    """Log and chain that anchors are checked against, and the accounts that are paid."""

    log: LogAuthority | None
    chain: ChainAuthority | None


_span = {"valid_from": nullable(timestamp), "valid_until": timestamp}

anchor_history = members(
    {
        "logs": list_of(
            members(
                {
                    "origin": non_empty_text,
                    "key_id": key_id,
                    "public_key": bytes32,
                    "last_size": nullable(integer(0)),
                    **_span,
                }
            ),
            "a list",
        ),
        "chains": list_of(
            members(
                {
                    "origin": non_empty_text,
                    "network": non_empty_text,
                    "chain_id": integer(1),
                    "address": non_empty_text,
                    **_span,
                }
            ),
            "a list",
        ),
    }
)

payee = members(
    {
        "chain_id": integer(1),
        "asset": non_empty_text,
        "token": non_empty_text,
        "decimals": integer(0, 36),
        "address": non_empty_text,
    }
)


class KnownLog(LogAuthority, total=False):
    """A log whose checkpoints count. One that still grows has no ``last_size``."""

    last_size: int | None


class KnownPoster(ChainAuthority, total=False):
    """An account whose postings count for the log of that origin, in its span if it has one."""

    origin: str
    valid_from: str | None
    valid_until: str


def logs_of(anchors: Iterable[AnchorAuthority]) -> list[KnownLog]:
    """The logs of these authorities: each one's present log, then its earlier ones."""
    logs: list[KnownLog] = []
    for authority in anchors:
        if authority["log"] is not None:
            log = authority["log"]
            logs.append(
                {
                    "origin": log["origin"],
                    "key_id": log["key_id"],
                    "public_key": log["public_key"],
                }
            )
        if "history" in authority:
            logs.extend(cast(list[KnownLog], authority["history"]["logs"]))
    return logs


def is_within(log: KnownLog, size: int) -> bool | None:
    """Whether the log signed a tree of this size while it was in use; ``None``: not known."""
    if "last_size" not in log:
        return True
    return None if log["last_size"] is None else size <= log["last_size"]


def posters_of(anchors: Iterable[AnchorAuthority]) -> list[KnownPoster]:
    """The posting accounts of these authorities, present and earlier."""
    posters: list[KnownPoster] = []
    for authority in anchors:
        log, chain = authority["log"], authority["chain"]
        if log is not None and chain is not None:
            posters.append(
                {
                    "origin": log["origin"],
                    "network": chain["network"],
                    "chain_id": chain["chain_id"],
                    "address": chain["address"],
                }
            )
        if "history" in authority:
            posters.extend(cast(list[KnownPoster], authority["history"]["chains"]))
    return posters


def was_in_use(poster: KnownPoster, at: int) -> bool:
    """Whether the account was in use at a time, in Unix seconds."""
    if "valid_until" not in poster:
        return True
    start = poster.get("valid_from")
    return (start is None or seconds_of(start) <= at) and at < seconds_of(poster["valid_until"])
