"""The one error class. Codes are those of the service, which lists them all at ``/docs/errors``."""

from __future__ import annotations


class TallyError(Exception):
    """What went wrong: in this package, or as a service answered it (RFC 9457).

    ``code`` is stable (``json_syntax``, ``seal_wrong_key``, ``rate_limited``, ...); ``message`` is
    for people; ``field`` is the path of the offending member. Of a service's answer there are also
    ``status`` (HTTP), ``retry_after`` (seconds that it asked to wait) and ``request_id`` (for its
    operator). What is not known is ``None``.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.status = status
        self.retry_after = retry_after
        self.request_id = request_id

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
