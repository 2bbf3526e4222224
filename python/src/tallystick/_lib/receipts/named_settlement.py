"""The payment that a receipt names as its own (spec/verification.md)."""

from __future__ import annotations

import re

from ..canonical import canonicalize
from ..json_types import JsonObject, JsonValue
from .family import NamedSettlement, text_or_none

_HASH = re.compile("0x[0-9a-fA-F]{64}")
_DECIMAL = re.compile(r"(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?")


def named_settlement(
    chain_id: int | None, asset: str | None, members: JsonObject
) -> NamedSettlement | None:
    """Reads ``tx``, ``amount`` and ``payer`` of a receipt's settlement.

    Returns ``None`` without the hash of an EVM transaction. An amount that is none is ``None``.
    """
    tx = _matching(_HASH, members, "tx")
    if tx is None:
        return None
    amount = _matching(_DECIMAL, members, "amount")
    return NamedSettlement(chain_id, asset, tx.lower(), amount, _payer_in(members.get("payer")))


def _payer_in(payer: JsonValue) -> str | None:
    """What is no account has paid nothing: it stays, so that no transfer is found to be from it."""
    return payer if payer is None or isinstance(payer, str) else canonicalize(payer)


def _matching(pattern: re.Pattern[str], members: JsonObject, name: str) -> str | None:
    text = text_or_none(members, name)
    return text if text is not None and pattern.fullmatch(text) else None
