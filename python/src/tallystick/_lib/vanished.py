"""What a later trust bundle takes back of an earlier one (spec/trust.md, The line of bundles)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import cast

from .authority import KnownPoster, is_within, logs_of, posters_of
from .receipts.family import CLOCK_SKEW
from .timestamps import seconds_of
from .trust import IssuerKey, IssuerRecord, PqKey, TrustBundle

_Key = IssuerKey | PqKey


def vanished(earlier: TrustBundle, later: TrustBundle) -> list[str]:
    """Names what an earlier bundle has and a later one neither lists nor has in its history.

    These are logs, posting accounts, keys of verified issuers, and their revocations; and what the
    later one says otherwise of them and of their times. One sentence each.
    """
    keys = dict(_keys_of(later["issuers"]))
    listed = _keys_of(record for record in earlier["issuers"] if record["status"] == "verified")
    gone = [
        *_missing_logs(earlier, later),
        *_missing_posters(earlier, later),
        *(f"The key {name}" for name, _ in listed if name not in keys),
    ]
    listed_at = seconds_of(earlier["issued_at"])
    return [
        *(f"{what} is neither listed any more nor in the history." for what in gone),
        *(
            change
            for name, key in listed
            if name in keys
            for change in _changes(name, key, keys[name], listed_at)
        ),
        *_narrowed_logs(earlier, later),
        *_narrowed_posters(earlier, later),
    ]


def _keys_of(records: Iterable[IssuerRecord]) -> list[tuple[str, _Key]]:
    keys: list[tuple[str, _Key]] = []
    for record in records:
        listed: list[_Key] = [*record["keys"], *record.get("pq_keys", [])]
        keys.extend((f"{key['key_id']} of {record['did']}", key) for key in listed)
    return keys


def _changes(name: str, before: _Key, now: _Key, listed_at: int) -> Iterator[str]:
    """``listed_at``: Unix seconds; a key that was in use then can't have been retired before."""
    same = before["public_key"] == now["public_key"] and _purpose(before) == _purpose(now)
    if not same:
        yield (
            f"Under the name of the key {name}, there is another key now, "
            "or one for another purpose."
        )
    old_end, new_end = before["valid_until"], now["valid_until"]
    if old_end != new_end and (
        old_end is not None or new_end is None or seconds_of(new_end) < listed_at - CLOCK_SKEW
    ):
        yield (
            f"The key {name} was good until {old_end or _OPEN}, "
            f"and is now until {new_end or _OPEN}."
        )
    revoked = before["revoked"]
    if revoked is not None and not _is_kept(before, now):
        yield (f"The revocation of the key {name}, at {revoked['at']}, was taken back or weakened.")
    if before["valid_from"] != now["valid_from"]:
        yield (
            f"The key {name} was good from {before['valid_from']} on, "
            f"and is now from {now['valid_from']} on."
        )


_OPEN = "further notice"


def _purpose(key: _Key) -> str:
    return str(key.get("purpose", key.get("alg")))


def _is_kept(before: _Key, now: _Key) -> bool:
    """Whether the revocation of a key stays, or grows stricter."""
    old, new = before["revoked"], now["revoked"]
    if old is None:
        return True
    return (
        new is not None
        and seconds_of(new["at"]) <= seconds_of(old["at"])
        and (old["reason"] != "compromised" or new["reason"] == "compromised")
    )


def _missing_logs(earlier: TrustBundle, later: TrustBundle) -> Iterator[str]:
    logs = {(log["origin"], log["public_key"]) for log in logs_of([later])}
    for log in logs_of([earlier]):
        if (log["origin"], log["public_key"]) not in logs:
            yield f"The log {log['origin']} with the key {log['key_id']}"


def _missing_posters(earlier: TrustBundle, later: TrustBundle) -> Iterator[str]:
    accounts = {_account(poster) for poster in posters_of([later])}
    for poster in posters_of([earlier]):
        if _account(poster) not in accounts:
            yield (
                f"The account {poster['address']} on {poster['network']}, "
                f"which posted for {poster['origin']}"
            )


def _account(poster: KnownPoster) -> str:
    names = [poster["origin"], poster["network"], poster["chain_id"], poster["address"].lower()]
    return json.dumps(names)


def _narrowed_logs(earlier: TrustBundle, later: TrustBundle) -> Iterator[str]:
    """Logs of the history of which fewer leaves count than before."""
    if "history" not in earlier:
        return
    for log in earlier["history"]["logs"]:
        size = log["last_size"]
        same = [
            other
            for other in logs_of([later])
            if (other["origin"], other["public_key"]) == (log["origin"], log["public_key"])
        ]
        if same and size is not None and not any(is_within(other, size) for other in same):
            yield (
                f"The log {log['origin']} ended with {size} leaves, "
                "and no longer counts up to them."
            )


def _narrowed_posters(earlier: TrustBundle, later: TrustBundle) -> Iterator[str]:
    """Accounts of the history that count for a shorter time than before."""
    if "history" not in earlier:
        return
    for account in cast(list[KnownPoster], earlier["history"]["chains"]):
        same = [other for other in posters_of([later]) if _account(other) == _account(account)]
        if same and not any(_covers(other, account) for other in same):
            yield (
                f"The account {account['address']} on {account['network']} "
                "now counts for a shorter time."
            )


def _covers(poster: KnownPoster, other: KnownPoster) -> bool:
    """Whether the first account was in use for all the time in which the other was."""
    if "valid_until" not in poster:
        return True
    start, begin = poster.get("valid_from"), other.get("valid_from")
    begins = start is None or (begin is not None and seconds_of(start) <= seconds_of(begin))
    return begins and seconds_of(poster["valid_until"]) >= seconds_of(other["valid_until"])
