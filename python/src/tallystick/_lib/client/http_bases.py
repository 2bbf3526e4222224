"""Base classes of ``httpx`` and, if it is installed, of ``httpx2``, so that one class serves both.

``openai`` and ``anthropic`` send by ``httpx2`` in their newer versions, by ``httpx`` in older ones.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    import httpx2

    class Auth(httpx.Auth, httpx2.Auth): ...  # type: ignore[misc]

    class BaseTransport(httpx.BaseTransport, httpx2.BaseTransport): ...  # type: ignore[misc]

    class AsyncBaseTransport(  # type: ignore[misc]
        httpx.AsyncBaseTransport, httpx2.AsyncBaseTransport
    ): ...

    class SyncByteStream(httpx.SyncByteStream, httpx2.SyncByteStream): ...

    class AsyncByteStream(httpx.AsyncByteStream, httpx2.AsyncByteStream): ...
else:

    def _base(name: str) -> type:
        libraries = [httpx]
        if importlib.util.find_spec("httpx2") is not None:
            libraries.append(importlib.import_module("httpx2"))
        return type(name, tuple(getattr(library, name) for library in libraries), {})

    Auth = _base("Auth")
    BaseTransport = _base("BaseTransport")
    AsyncBaseTransport = _base("AsyncBaseTransport")
    SyncByteStream = _base("SyncByteStream")
    AsyncByteStream = _base("AsyncByteStream")


def library_of(request: object) -> Any:
    """The library, ``httpx`` or ``httpx2``, that a request is of."""
    return sys.modules[type(request).__module__.partition(".")[0]]


def newest_library() -> Any:
    """``httpx2`` if it is installed, else ``httpx``."""
    installed = importlib.util.find_spec("httpx2") is not None
    return importlib.import_module("httpx2") if installed else httpx


def limits_of_model_clients(library: Any) -> Any:
    """How many connections the clients of OpenAI and Anthropic open, by ``Limits`` of a library."""
    return library.Limits(max_connections=1_000, max_keepalive_connections=100)
