"""Methods about balances, and about keys that are bought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ....documents import (
    Balance,
    BalanceStatement,
    KeyOrder,
    KeyQuote,
    PaymentInstructions,
    PurchasedKey,
    TopUp,
    Withdrawal,
    Withdrawals,
)
from ..calls import lists, money
from .sender import AsyncSender

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncMoneyMethods(AsyncSender):
    """The prepaid balance of the API key or of the agent that signs, and the purchase of keys.

    Amounts that are sent are decimal text in USDC.
    """

    async def get_balance(self) -> Balance:
        """Reads the balance."""
        return await self._send(money.get_balance(self._service))

    async def get_balance_statement(
        self, *, after: int | None = None, limit: int | None = None
    ) -> BalanceStatement:
        """Lists the entries of the account, oldest first.

        ``limit`` is from 1 to 1,000, and 100 when absent. For the next page give the answer's
        ``next`` as ``after``, until that is ``None``.
        """
        return await self._send(money.get_balance_statement(self._service, after, limit))

    async def quote_top_up(self, amount: str) -> PaymentInstructions:
        """Asks for the exact amount by which a transfer is recognised as a top-up."""
        return await self._send(money.quote_top_up(self._service, amount))

    async def top_up_balance(
        self, amount: str, *, account: str | None = None, idempotency_key: str | None = None
    ) -> TopUp:
        """Tops the balance up by x402. It needs an ``http_client`` that pays.

        ``account`` is the id of an API key (``key_…``) or a DID, and the caller's own account when
        absent. A retry with the same idempotency key is not paid again. Raises ``payment_required``
        with the terms in ``problem["payment"]`` if the HTTP client does not pay.
        """
        call = money.top_up_balance(self._service, amount, account, idempotency_key)
        return await self._send(call)

    async def request_withdrawal(
        self, *, address: str, amount: str, idempotency_key: str | None = None
    ) -> Withdrawal:
        """Requests a withdrawal from the balance of the agent that signs.

        ``address`` is an EVM address on the service's network, with a valid checksum. The same
        idempotency key never makes a second withdrawal.
        """
        call = money.request_withdrawal(self._service, address, amount, idempotency_key)
        return await self._send(call)

    async def list_withdrawals(self, **page: Unpack[lists.Page]) -> Withdrawals:
        """Lists the withdrawals of the agent that signs.

        Takes ``limit``, ``cursor``, ``from_`` and ``to`` like every list. For the next page give
        the answer's ``next_cursor`` as ``cursor``, until that is ``None``.
        """
        return await self._send(money.list_withdrawals(self._service, page))

    async def quote_key(
        self,
        *,
        tier: Literal["pro", "scale"],
        months: Literal[1, 12] | None = None,
        contact: str | None = None,
        issuer_did: str | None = None,
        renew: str | None = None,
    ) -> KeyQuote:
        """Asks for the exact amount by which a transfer is recognised as the payment of a key.

        12 months cost as much as ten; 1 month when absent. The key is sent to ``contact``, an
        e-mail address, a domain or a DID, or sealed to ``issuer_did``. ``renew`` is the id of a key
        to extend instead.
        """
        members = {
            "tier": tier,
            "months": months,
            "contact": contact,
            "issuer_did": issuer_did,
            "renew": renew,
        }
        return await self._send(money.quote_key(self._service, members))

    async def get_key_order(self, order_id: str) -> KeyOrder:
        """Reads an order of a key or of a top-up."""
        return await self._send(money.get_key_order(self._service, order_id))

    async def buy_key(
        self,
        *,
        tier: Literal["pro", "scale"],
        months: Literal[1, 12] | None = None,
        contact: str | None = None,
        issuer_did: str | None = None,
        idempotency_key: str | None = None,
    ) -> PurchasedKey:
        """Buys an API key by x402. It needs an ``http_client`` that pays.

        ``contact`` and ``issuer_did`` are notes. A retry with the same idempotency key is not paid
        again. Raises ``payment_required`` with the terms in ``problem["payment"]`` if the HTTP
        client does not pay.
        """
        members = {"tier": tier, "months": months, "contact": contact, "issuer_did": issuer_did}
        return await self._send(money.buy_key(self._service, members, idempotency_key))
