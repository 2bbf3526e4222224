"""A receipt as it was signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from ..canonical import canonicalize
from ..json_types import JsonObject

Receipt_co = TypeVar("Receipt_co", covariant=True)


@dataclass(frozen=True)
class Issued(Generic[Receipt_co]):
    """A signed receipt: the document, and its exact text.

    The document's type is that of the receipt that was asked for. Only ``verify`` checks it.
    """

    receipt: Receipt_co
    text: str
    """Keep this text: anybody can verify it later."""

    @classmethod
    def of(cls, receipt: JsonObject) -> Issued[Any]:
        """The receipt with its canonical text."""
        return cls(cast(Any, receipt), canonicalize(receipt))
