"""The service that a client talks to: its addresses, and who calls it."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

import httpx

from ..canonical import canonical_bytes, copy_json
from ..errors import TallyError
from .wire import Call, object_in

_API = re.compile(
    r"/(?:v1/(?:anchors?|balance|compute|issuers|keys|limits|log)(?:[/?]|$)|checkpoint$|tile/|\.well-known/x402$)"
)
_SITE = re.compile(r"/\.well-known/(?:(?:issuers|trust)/|(?:did|trust)\.json$)")

_KEY = re.compile(r"[\x21-\x7e]{1,255}")

_LOCAL = "http://127.0.0.1:8787"

Read: TypeAlias = Callable[[httpx.Response], Any]


@dataclass(frozen=True)
class Service:
    """Makes requests to the addresses of one service, without sending them."""

    receipts_url: str
    api_url: str
    site_url: str
    api_key: str | None
    agent_did: str | None
    accept_charge: str | None

    @classmethod
    def at(
        cls,
        base_url: str | None,
        api_url: str | None = None,
        site_url: str | None = None,
        *,
        api_key: str | None = None,
        agent_did: str | None = None,
        accept_charge: str | None = None,
    ) -> Service:
        """The service at these addresses.

        Raises ``invalid_field`` for an invalid one, and for what no header can carry.
        """
        _require_header(api_key, "api_key")
        _require_header(agent_did, "agent_did")
        _require_header(accept_charge, "accept_charge")
        base = (os.environ.get("TALLY_URL") or _LOCAL) if base_url is None else base_url
        return cls(
            _service_url(base, "base_url"),
            _service_url(base if api_url is None else api_url, "api_url"),
            _service_url(base if site_url is None else site_url, "site_url"),
            api_key,
            agent_did,
            accept_charge,
        )

    @property
    def compute_url(self) -> str:
        """The base URL of inference, as clients of models take it."""
        return f"{self.api_url}/v1/compute"

    def get(
        self,
        path: str,
        read: Read = object_in,
        *,
        query: Mapping[str, object] | None = None,
        accept: str = "application/json",
    ) -> Call[Any]:
        """A request that reads what is at a path. Members of the query that are None are left out.

        The answer's type is what the API documents; it is not checked.
        """
        given = {
            name: utf8(str(value), name)
            for name, value in (query or {}).items()
            if value is not None
        }
        headers = {"accept": accept, **self._identity(path)}
        suffix = f"?{urlencode(given)}" if given else ""
        return Call("GET", self._url(path) + suffix, read, headers)

    def post(
        self,
        path: str,
        body: Mapping[str, object],
        read: Read = object_in,
        *,
        key: str | None = None,
        keep_none: bool = False,
    ) -> Call[Any]:
        """A request with these members, without those that are ``None`` unless ``keep_none``.

        ``key`` is the idempotency key, a fresh random one when absent.
        """
        kept = {name: one for name, one in body.items() if keep_none or one is not None}
        return self.send(path, canonical_bytes(copy_json(kept)), read, key=key)

    def patch(self, path: str, body: Mapping[str, object], read: Read = object_in) -> Call[Any]:
        """A request that changes these members, ``None`` included."""
        call = self.send(path, canonical_bytes(copy_json(body)), read)
        return replace(call, method="PATCH")

    def delete(self, path: str, read: Read = object_in) -> Call[Any]:
        """A request that ends what is at a path."""
        return replace(self.get(path, read), method="DELETE")

    def send(
        self,
        path: str,
        body: Any,
        read: Read,
        *,
        key: str | None = None,
        content_type: str = "application/json",
    ) -> Call[Any]:
        """A request with this body. Raises ``invalid_field`` for a key that no header can carry."""
        if key is not None and not _KEY.fullmatch(key):
            message = "idempotency_key must be 1 to 255 visible ASCII characters."
            raise TallyError("invalid_field", message, field="idempotency_key")
        headers = {
            "accept": "application/json",
            **self._identity(path),
            "content-type": content_type,
            "idempotency-key": secrets.token_hex(16) if key is None else key,
        }
        return Call("POST", self._url(path), read, headers, body)

    def identity(self) -> dict[str, str]:
        """The headers that say who calls."""
        members = {
            "authorization": None if self.api_key is None else f"Bearer {self.api_key}",
            "x-agent-did": self.agent_did,
            "x-accept-charge": self.accept_charge,
        }
        return {name: value for name, value in members.items() if value is not None}

    def _identity(self, path: str) -> dict[str, str]:
        return {} if _SITE.match(path) else self.identity()

    def _url(self, path: str) -> str:
        if _SITE.match(path):
            return self.site_url + path
        return (self.api_url if _API.match(path) else self.receipts_url) + path


def segment(text: str, field: str) -> str:
    """A text as one segment of a path. Raises ``invalid_field`` as ``utf8``."""
    return quote(utf8(text, field), safe="")


def utf8(text: str, field: str) -> bytes:
    """The UTF-8 of a text. Raises ``invalid_field`` with ``field`` if it has none."""
    try:
        return text.encode()
    except UnicodeEncodeError as cause:
        message = f"{field} holds half of a surrogate pair, which has no UTF-8."
        raise TallyError("invalid_field", message, field=field) from cause


def _require_header(text: str | None, field: str) -> None:
    """Raises ``invalid_field`` for a text that no header can carry."""
    if text is not None and not (text.isascii() and text.isprintable()):
        message = f"{field} must consist of printable ASCII characters."
        raise TallyError("invalid_field", message, field=field)


def _service_url(text: str, member: str) -> str:
    """Scheme, host, port and perhaps a path, no trailing slash. Raises ``invalid_field``."""
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, UnicodeError):
        url = httpx.URL("")
    plain = not (url.userinfo or url.query or url.fragment)
    if url.scheme not in ("http", "https") or url.host == "" or not plain:
        message = f"{text!r} is not the URL of a service, such as https://receipts.example.com."
        raise TallyError("invalid_field", message, field=member)
    return str(url).rstrip("/")
