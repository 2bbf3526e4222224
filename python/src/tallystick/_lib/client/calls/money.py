"""Requests about balances, and about keys that are bought."""

from __future__ import annotations

from collections.abc import Mapping

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
from ..service import Service, segment
from ..wire import Call
from .lists import Page


def get_balance(service: Service) -> Call[Balance]:
    return service.get("/v1/balance")


def get_balance_statement(
    service: Service, after: int | None, limit: int | None
) -> Call[BalanceStatement]:
    return service.get("/v1/balance/statement", query={"after": after, "limit": limit})


def quote_top_up(service: Service, amount: str) -> Call[PaymentInstructions]:
    return service.post("/v1/balance/quote", {"amount": amount})


def top_up_balance(
    service: Service, amount: str, account: str | None, key: str | None
) -> Call[TopUp]:
    return service.post("/v1/balance/topup", {"amount": amount, "account": account}, key=key)


def request_withdrawal(
    service: Service, address: str, amount: str, key: str | None
) -> Call[Withdrawal]:
    return service.post("/v1/balance/withdrawals", {"address": address, "amount": amount}, key=key)


def list_withdrawals(service: Service, page: Page) -> Call[Withdrawals]:
    query = {name.rstrip("_"): value for name, value in page.items()}
    return service.get("/v1/balance/withdrawals", query=query)


def quote_key(service: Service, members: Mapping[str, object]) -> Call[KeyQuote]:
    return service.post("/v1/anchor/keys/quote", members)


def get_key_order(service: Service, order_id: str) -> Call[KeyOrder]:
    return service.get(f"/v1/anchor/keys/orders/{segment(order_id, 'order_id')}")


def buy_key(service: Service, members: Mapping[str, object], key: str | None) -> Call[PurchasedKey]:
    return service.post("/v1/anchor/keys", members, key=key)
