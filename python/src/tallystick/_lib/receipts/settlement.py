"""The check of the transaction that paid for a receipt (spec/verification.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..authority import Payee
from ..log.anchor_checks import NOT_ASKED, NotAsked
from .family import Check, NamedSettlement, check, failed, unchecked

_NAME = "settlement_transaction"


@dataclass(frozen=True)
class TokenTransfer:
    """One transfer of an ERC-20 token; addresses are ``0x`` and 40 hex in any case."""

    token: str
    """The token's contract."""
    sender: str
    recipient: str
    amount: int
    """In the token's base units."""


@dataclass(frozen=True)
class SettlementTransaction:
    """A transaction as the caller read it from a node of the chain, which is believed."""

    chain_id: int
    tx_hash: str
    """``0x`` and 64 hex."""
    block_height: int
    transfers: tuple[TokenTransfer, ...]
    """None if the transaction was reverted."""


def check_settlement(
    named: NamedSettlement,
    transaction: SettlementTransaction | NotAsked | None,
    payees: Iterable[Payee],
) -> Check:
    """Judges whether the transaction that a receipt names paid its amount to one of the payees.

    ``transaction`` is ``None`` if the chain has no such transaction.
    """
    chain_id, asset, amount, payer = named.chain_id, named.asset, named.amount, named.payer
    if transaction is NOT_ASKED:
        return unchecked(_NAME, f"The chain was not asked whether {named.tx} has paid.")
    if chain_id is None:
        return unchecked(_NAME, "The receipt names no chain that could be asked.")
    if transaction is None:
        return failed(_NAME, f"Chain {chain_id} has no transaction {named.tx}.")
    if transaction.tx_hash.lower() != named.tx or transaction.chain_id != chain_id:
        found = f"{transaction.tx_hash} of chain {transaction.chain_id}"
        return failed(_NAME, f"The transaction is {found}.")
    known = [one for one in payees if one["chain_id"] == chain_id and one["asset"] == asset]
    if not known:
        detail = f"The given trust does not say who is paid in {asset} on chain {chain_id}."
        return unchecked(_NAME, detail)
    if amount is None:
        return unchecked(_NAME, "The receipt does not say how much was paid.")
    paid = next((one for one in known if _is_paid(one, transaction, amount, payer)), None)
    what = f"{amount} {asset}" + ("" if payer is None else f" from {payer}")
    block = f"Block {transaction.block_height} of chain {chain_id}"
    return check(
        _NAME,
        paid is not None,
        f"{block} has it: {what} to {paid and paid['address']}.",
        f"It did not pay {what} to {' or '.join(one['address'] for one in known)}.",
    )


def _is_paid(
    payee: Payee, transaction: SettlementTransaction, amount: str, payer: str | None
) -> bool:
    units = _base_units(amount, payee["decimals"])
    return any(
        one.token.lower() == payee["token"].lower()
        and one.recipient.lower() == payee["address"].lower()
        and (payer is None or one.sender.lower() == payer.lower())
        and one.amount == units
        for one in transaction.transfers
    )


def _base_units(amount: str, decimals: int) -> int | None:
    """The amount in base units; ``None`` for an amount that is finer than the token."""
    whole, _, fraction = amount.partition(".")
    digits = fraction.rstrip("0")
    return None if len(digits) > decimals else int(whole + digits.ljust(decimals, "0"))
