"""The forms of a recipient that an issuer's receipt may name."""

from __future__ import annotations

import re

from .did import is_did
from .encoding import from_base58
from .errors import TallyError

_EVM = re.compile(r"0x[0-9a-fA-F]{40}")
_CHAIN_ACCOUNT = re.compile(r"([-a-z0-9]{3,8}):[-_a-zA-Z0-9]{1,32}:([-.%a-zA-Z0-9]{1,128})")
"""CAIP-10: namespace, reference and address of an account on any chain."""
_BASE58_KEY = re.compile(r"[1-9A-HJ-NP-Za-km-z]{32,44}")
"""The base58 of 32 bytes has between 32 and 44 characters."""


def is_recipient(text: str) -> bool:
    """Whether the text is what an issuer's receipt may name as recipient.

    That is a DID; an EVM address (``0x`` and 40 hex digits in any letter case, because the checksum
    of EIP-55 is optional); a Solana address (base58 of 32 bytes); or an account of any other chain
    as CAIP-10 writes it (``bip122:<chain>:<address>``).
    """
    if text.startswith("did:"):
        return is_did(text)
    account = _CHAIN_ACCOUNT.fullmatch(text)
    if account is not None:
        return account[1] != "eip155" or _EVM.fullmatch(account[2]) is not None
    return _EVM.fullmatch(text) is not None or _is_solana_address(text)


def _is_solana_address(text: str) -> bool:
    if _BASE58_KEY.fullmatch(text) is None:
        return False
    try:
        return len(from_base58(text)) == 32
    except TallyError:
        return False
