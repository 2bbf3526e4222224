"""One exchange with a service: the request, and how its answer is read."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Generic, Literal, TypeAlias, TypeVar

import httpx

from ..canonical import canonical_bytes, copy_json, parse_json
from ..errors import TallyError
from ..json_types import JsonObject, JsonValue
from ..shape import is_object

T_co = TypeVar("T_co", covariant=True)

Leaves: TypeAlias = Iterable[JsonValue]
AsyncLeaves: TypeAlias = AsyncIterable[JsonValue]

_LINES_A_CHUNK = 500


@dataclass(frozen=True)
class Lines:
    """A body of JSON lines: the bill, then its evidence, which is read while it is sent."""

    bill: bytes
    evidence: Leaves | AsyncLeaves

    @property
    def repeatable(self) -> bool:
        """Whether the evidence can be read again; a generator can be read only once."""
        evidence = self.evidence
        if isinstance(evidence, Iterable):
            return iter(evidence) is not evidence
        return aiter(evidence) is not evidence

    def chunks(self) -> Iterator[bytes]:
        """Raises ``TypeError`` for evidence that only an ``AsyncClient`` can read."""
        if not isinstance(self.evidence, Iterable):
            raise TypeError("Evidence from an async iterable takes an AsyncClient.")
        chunk = [self.bill]
        for leaf in self.evidence:
            chunk.append(_line(leaf))
            if len(chunk) == _LINES_A_CHUNK:
                yield b"".join(chunk)
                chunk = []
        yield b"".join(chunk)

    async def async_chunks(self) -> AsyncIterator[bytes]:
        if isinstance(self.evidence, Iterable):
            for chunk in self.chunks():
                yield chunk
            return
        lines = [self.bill]
        async for leaf in self.evidence:
            lines.append(_line(leaf))
            if len(lines) == _LINES_A_CHUNK:
                yield b"".join(lines)
                lines = []
        yield b"".join(lines)


def bill_lines(bill: JsonObject, evidence: Leaves | AsyncLeaves) -> Lines:
    return Lines(_line(bill), evidence)


def _line(value: JsonValue) -> bytes:
    return canonical_bytes(copy_json(value)) + b"\n"


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """A request, and how its answer is read."""

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    url: str
    read: Callable[[httpx.Response], T_co]
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Lines | None = None

    @property
    def repeatable(self) -> bool:
        """Whether it may be tried again."""
        return not isinstance(self.body, Lines) or self.body.repeatable


def refusal(response: httpx.Response) -> TallyError | None:
    """Returns the error for an answer that is not 2xx, or ``None``."""
    if response.is_success:
        return None
    problem = _problem_in(response)
    origin, status = _origin(response.request.url), response.status_code
    if problem is None:
        location = response.headers.get("location")
        where = f" It points to {location}: give the service's own URL." if location else ""
        message = f"{origin} answered {status} and does not look like Tallystick.{where}"
        return _answered(response, _code_of(status), message)
    detail, member = problem.get("detail"), problem.get("field")
    return _answered(
        response,
        str(problem["code"]),
        detail if isinstance(detail, str) else f"The service answered {status}.",
        member if isinstance(member, str) else None,
        problem,
    )


def unreached(url: str, error: httpx.RequestError) -> TallyError:
    """Returns the error for a request without an answer."""
    origin = _origin(httpx.URL(url))
    late = isinstance(error, httpx.TimeoutException)
    message = f"{origin} did not answer in time." if late else f"Nothing answers at {origin}."
    failure = TallyError("unavailable", message)
    failure.__cause__ = error
    return failure


def json_in(response: httpx.Response) -> JsonValue:
    """Reads the JSON of an answer. Raises ``unavailable`` if it has none."""
    return _parsed(response.content, response)


def object_in(response: httpx.Response) -> JsonObject:
    """Reads the JSON object of an answer. Raises ``unavailable`` if it has none."""
    return _object(json_in(response), response)


def results_in(response: httpx.Response, items: int) -> list[JsonValue]:
    """Reads the results of an answer about so many items, in their order.

    Raises ``unavailable`` unless there is one for each.
    """
    results = object_in(response).get("results")
    if not isinstance(results, list) or len(results) != items:
        raise not_understood(response)
    return results


def event_in(line: bytes, response: httpx.Response) -> JsonObject:
    """Reads the JSON object of a line ``data: …``. Raises ``unavailable`` if it has none."""
    return _object(_parsed(line.removeprefix(b"data: "), response), response)


def _parsed(data: bytes, response: httpx.Response) -> JsonValue:
    try:
        return parse_json(data)
    except TallyError as cause:
        raise not_understood(response) from cause


def _object(document: JsonValue, response: httpx.Response) -> JsonObject:
    if not is_object(document):
        raise not_understood(response)
    return document


def text_in(response: httpx.Response) -> str:
    """Reads the text of an answer."""
    return response.content.decode("utf-8", "replace")


def content_in(response: httpx.Response) -> bytes:
    """Reads the bytes of an answer."""
    return response.content


def not_understood(response: httpx.Response) -> TallyError:
    """Returns the error for an answer of 2xx whose body is not the service's."""
    origin = _origin(response.request.url)
    return _answered(response, "unavailable", f"{origin} does not answer like Tallystick.")


def _answered(
    response: httpx.Response,
    code: str,
    message: str,
    member: str | None = None,
    problem: JsonObject | None = None,
) -> TallyError:
    return TallyError(
        code,
        message,
        field=member,
        status=response.status_code,
        retry_after=_retry_after(response.headers.get("retry-after")),
        final=response.headers.get("x-should-retry") == "false",
        request_id=response.headers.get("x-request-id"),
        receipt_id=response.headers.get("x-receipt-id"),
        problem=problem,
    )


def _problem_in(response: httpx.Response) -> JsonObject | None:
    try:
        document = parse_json(response.content)
    except TallyError:
        return None
    return document if is_object(document) and isinstance(document.get("code"), str) else None


def _code_of(status: int) -> str:
    """Chooses a code for an answer without one, which a proxy gave."""
    return {404: "not_found", 413: "body_too_large", 429: "rate_limited"}.get(status, "unavailable")


def _retry_after(text: str | None) -> float | None:
    """Reads ``Retry-After`` (RFC 9110), seconds or an HTTP date, as seconds from now."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())


def _origin(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii')}"
