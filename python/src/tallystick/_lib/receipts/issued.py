"""A receipt as it was signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from ..canonical import canonicalize
from ..json_types import JsonObject

Receipt_co = TypeVar("Receipt_co", covariant=True)


@dataclass(frozen=True)
class Issued(Generic[Receipt_co]):
    """A signed receipt: the document, and its text to the byte as it was signed and answered.

    The document's type is that of the receipt that was asked for. Whether it is one, ``verify``
    says.
    """

    receipt: Receipt_co
    text: str
    """Keep this: it is what anybody can verify later."""

    @classmethod
    def of(cls, receipt: JsonObject) -> Issued[Any]:
        """The receipt with its canonical text."""
        return cls(cast(Any, receipt), canonicalize(receipt))
