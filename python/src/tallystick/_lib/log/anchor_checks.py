"""The checks of an anchored result (spec/verification.md): path, checkpoint, transaction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ..authority import (
    AnchorAuthority,
    KnownLog,
    is_within,
    logs_of,
    posters_of,
    was_in_use,
)
from ..encoding import from_base64url
from ..errors import TallyError
from ..hashes import sha256
from ..merkle import leaf_hash, verify_inclusion
from ..receipts.family import CLOCK_SKEW, Check, check, failed, unchecked
from ..timestamps import format_timestamp
from .anchor_ref import AnchoredRef
from .anchored import AnchoredResult
from .checkpoint import Checkpoint, open_checkpoint, parse_checkpoint_text
from .note import parse_note
from .posting import PostedHead, decode_posting

_HEX_DATA = re.compile("0x(?:[0-9a-f]{2})*")


@dataclass(frozen=True)
class AnchorTransaction:
    """A transaction as a node of the chain returned it, in a block that is final."""

    chain_id: int
    tx_hash: str
    """``0x`` and 64 hex."""
    block_height: int
    block_time: int
    """Time of the block, in Unix seconds."""
    sender: str
    """``0x`` and 40 hex in any case: who signed it."""
    data: str
    """The calldata: ``0x`` hex."""


class NotAsked(Enum):
    """The type of ``NOT_ASKED``."""

    TOKEN = "not asked"


NOT_ASKED: Final = NotAsked.TOKEN
"""Stands for a transaction that the chain was not asked for."""


@dataclass(frozen=True)
class AnchorFacts:
    """What is known when an anchor is checked."""

    now: int
    """When it is checked: Unix milliseconds."""
    issued_at: int
    """When the receipt says that it was issued: Unix seconds."""
    transaction: AnchorTransaction | NotAsked | None
    """``None``: the chain has no such transaction."""
    anchors: Sequence[AnchorAuthority]
    """The logs that the verifier knows, each with the account that posts its roots."""


@dataclass(frozen=True)
class AnchorVerdict:
    checks: tuple[Check, ...]
    existed_at: int | None = None
    """Unix milliseconds at which the chain proves that the receipt existed."""
    checkpoint: str | None = None
    """Signed note that covers the receipt; ``None`` if there is none, or it is contradicted."""


def check_anchor(
    result: AnchoredResult, ref: AnchoredRef, anchored_hash: bytes, facts: AnchorFacts
) -> AnchorVerdict:
    """Judges an anchored result of a receipt by its anchored hash (32 bytes).

    The path leads from the receipt to the root, the log signed this root, and the account that
    posts for the log put it on the chain. If the result does not say the
    tree size, the checkpoint or the transaction does.
    """
    transaction = None if facts.transaction is NOT_ASKED else facts.transaction
    noted = _noted_head(result)
    posted = _posted_head(transaction)
    sizes = [head.size for head in (noted, posted) if head is not None]
    size = result.get("tree_size", sizes[0] if sizes else None)
    inclusion = _inclusion_check(result, ref.index, anchored_hash, size)
    on_chain = _transaction_check(result, facts, noted, posted)
    signed = _checkpoint_check(result, facts.anchors, noted)
    covers = inclusion.ok is True and signed.ok is not False
    checkpoint = result.get("checkpoint") if covers else None
    checks = (inclusion, signed, on_chain)
    if transaction is None or not inclusion.ok or not on_chain.ok:
        return AnchorVerdict(checks, checkpoint=checkpoint)
    return AnchorVerdict(checks, transaction.block_time * 1_000, checkpoint)


def _noted_head(result: AnchoredResult) -> Checkpoint | None:
    """Reads the note without checking its signature; ``None`` if there is none that can be read."""
    try:
        note = result.get("checkpoint")
        return None if note is None else parse_checkpoint_text(parse_note(note).text)
    except TallyError:
        return None


def _posted_head(transaction: AnchorTransaction | None) -> PostedHead | None:
    if transaction is None or _HEX_DATA.fullmatch(transaction.data) is None:
        return None
    return decode_posting(bytes.fromhex(transaction.data[2:]))


def _inclusion_check(
    result: AnchoredResult, index: int, anchored_hash: bytes, size: int | None
) -> Check:
    root = result["merkle_root"]
    if size is None:
        detail = "It does not say how many leaves the root covers; its transaction does."
        return unchecked("anchor", detail)
    included = verify_inclusion(
        index=index,
        size=size,
        leaf=leaf_hash(anchored_hash),
        path=[_hash_in(one) for one in result["merkle_path"]],
        root=_hash_in(root),
    )
    return check(
        "anchor",
        included,
        f"The receipt is leaf {index} of the {size} leaves under {root}.",
        f"The path does not lead from this receipt, as leaf {index} of {size}, to {root}.",
    )


def _checkpoint_check(
    result: AnchoredResult, anchors: Sequence[AnchorAuthority], noted: Checkpoint | None
) -> Check:
    name, note = "anchor_checkpoint", result.get("checkpoint")
    if note is None:
        return unchecked(name, "No checkpoint was given.")
    if noted is None:
        return failed(name, "The checkpoint is not a signed note of a tree head.")
    origin, size = noted.origin, noted.size
    same_size = size == result.get("tree_size", size)
    if result["merkle_root"] != f"sha256:{noted.root.hex()}" or not same_size:
        return failed(name, "The checkpoint and the anchored result are of different trees.")
    verdict = unchecked(name, f"The given trust does not list the log {origin}.")
    for log in [one for one in logs_of(anchors) if one["origin"] == origin]:
        try:
            public_key = from_base64url(log["public_key"], 32)
            open_checkpoint(note, origin=origin, public_key=public_key)
        except TallyError as error:
            verdict = failed(name, error.message)
        else:
            return _size_check(log, size)
    return verdict


def _size_check(log: KnownLog, size: int) -> Check:
    name, origin, within = "anchor_checkpoint", log["origin"], is_within(log, size)
    if within is None:
        detail = f"{origin} has ended; nothing says with how many leaves."
        return unchecked(name, detail)
    return check(
        name,
        within,
        f"{origin} signed this root over {size} leaves.",
        f"{origin} ended with {log.get('last_size')} leaves, not {size}.",
    )


def _transaction_check(
    result: AnchoredResult, facts: AnchorFacts, noted: Checkpoint | None, posted: PostedHead | None
) -> Check:
    name, transaction = "anchor_transaction", facts.transaction
    network, block_height = result["network"], result["block_height"]
    if transaction is NOT_ASKED:
        verified_at = result["verified_at"]
        detail = (
            f"The chain was not asked; the claim that it was final at {verified_at} is not signed."
        )
        return unchecked(name, detail)
    if transaction is None:
        return failed(name, f"{network} has no transaction {result['tx_hash']}.")
    same_hash = transaction.tx_hash.lower() == result["tx_hash"]
    if not same_hash or transaction.block_height != block_height:
        detail = f"The transaction is {transaction.tx_hash} in block {transaction.block_height}."
        return failed(name, detail)
    if posted is None:
        return failed(name, "The transaction posts no root.")
    root = f"sha256:{posted.root.hex()}"
    size = result.get("tree_size", posted.size if noted is None else noted.size)
    if result["merkle_root"] != root or posted.size != size:
        return failed(name, f"It posts {root} over {posted.size} leaves.")
    if noted is not None and not _is_of(noted.origin, posted):
        return failed(name, f"It posts the root of a log other than {noted.origin}.")
    posters = [one for one in posters_of(facts.anchors) if _is_of(one["origin"], posted)]
    if not posters:
        detail = "The given trust does not list the account that posts for this log."
        return unchecked(name, detail)
    sender, chain_id = transaction.sender.lower(), transaction.chain_id
    own = [
        chain
        for chain in posters
        if (chain["network"], chain["chain_id"]) == (network, chain_id)
        and chain["address"].lower() == sender
    ]
    at = format_timestamp(transaction.block_time * 1_000)
    if not any(was_in_use(chain, transaction.block_time) for chain in own):
        when = f"did not post at {at}" if own else "does not post"
        detail = f"{sender} on chain {chain_id} ({network}) {when} for this log."
        return failed(name, detail)
    return check(
        name,
        facts.issued_at <= transaction.block_time + CLOCK_SKEW,
        f"It existed at {at}: block {block_height} of {network} contains the root.",
        f"It claims to have been issued after it was anchored at {at}.",
    )


def _hash_in(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("sha256:"))


def _is_of(origin: str, posted: PostedHead) -> bool:
    return sha256(origin.encode()) == posted.origin_sha256
