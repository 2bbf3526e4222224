"""The one error class. Codes are those of the service, which lists them all at ``/docs/errors``."""

from __future__ import annotations

from .json_types import JsonObject


class TallyError(Exception):
    """What went wrong: in this package, or as a service answered it (RFC 9457).

    ``code`` is stable (``json_syntax``, ``seal_wrong_key``, ``rate_limited``, ...), ``message`` is
    for people, and ``field`` is the path of the offending member. An error that a service answered
    also has ``status`` (HTTP), ``retry_after`` (seconds to wait), ``request_id`` (to quote to the
    operator), ``receipt_id`` (of a call that failed after it was billed) and ``problem``, the whole
    document. What is not known is ``None``. ``final`` is whether the service says that the same
    request will not succeed soon (``X-Should-Retry: false``).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        final: bool = False,
        request_id: str | None = None,
        receipt_id: str | None = None,
        problem: JsonObject | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.status = status
        self.retry_after = retry_after
        self.final = final
        self.request_id = request_id
        self.receipt_id = receipt_id
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
