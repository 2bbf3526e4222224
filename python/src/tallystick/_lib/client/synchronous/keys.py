# Written by scripts/unasync.py from ../asynchronous/keys.py; do not edit.
"""Methods about the API keys of an account."""

from __future__ import annotations

from ....documents import ApiKey, ApiKeyList, Limits, LimitsOfCaller, NewApiKey
from ..calls import keys
from .sender import Sender


class KeyMethods(Sender):
    """The API keys of an account, for the DID that owns it or a key that may manage keys.

    Amounts in ``limits`` are decimal text in USDC.
    """

    def list_keys(self, *, limit: int | None = None, cursor: str | None = None) -> ApiKeyList:
        """Lists the keys, newest first.

        ``limit`` is from 1 to 1,000, and 50 when absent. For the next page give the answer's
        ``next_cursor`` as ``cursor``, until that is ``None``.
        """
        return self._send(keys.list_keys(self._service, limit, cursor))

    def create_key(
        self,
        *,
        name: str | None = None,
        expires_at: str | None = None,
        limits: Limits | None = None,
        manages: bool = False,
        keep: bool = False,
    ) -> NewApiKey:
        """Makes a key that the account pays for. Its ``key`` is shown this once.

        ``keep`` has prompt and answer of its calls kept, where the operator allows it.
        """
        members = {
            "name": name,
            "expires_at": expires_at,
            "limits": limits,
            "manages": manages,
            "keep": keep,
        }
        return self._send(keys.create_key(self._service, members))

    def update_key(self, key_id: str, **members: object) -> ApiKey:
        """Replaces the given members of a key, of ``limits`` too; ``None`` takes one away.

        The members are ``name``, ``expires_at``, ``limits``, ``manages`` and ``keep``.
        """
        return self._send(keys.update_key(self._service, key_id, members))

    def revoke_key(self, key_id: str) -> ApiKey:
        """Revokes a key, from the next request on."""
        return self._send(keys.revoke_key(self._service, key_id))

    def get_limits(self) -> LimitsOfCaller:
        """Reads what the caller's own calls count in, with its limits and what it spent.

        That is the API key and, if it may manage keys, the owner of its account; or the agent
        that signs.
        """
        return self._send(keys.get_limits(self._service))

    def rotate_key(self, key_id: str, *, grace_seconds: int | None = None) -> NewApiKey:
        """Gives a key a new secret under the same id.

        The secret before stays good for ``grace_seconds``, 0 when absent and a week at most.
        """
        return self._send(keys.rotate_key(self._service, key_id, grace_seconds))
