"""A receipt as it was signed."""

from __future__ import annotations

from dataclasses import dataclass

from ..canonical import canonicalize
from ..json_types import JsonObject


@dataclass(frozen=True)
class Issued:
    """A signed receipt: the document, and its text to the byte as it was signed and answered."""

    receipt: JsonObject
    text: str
    """Keep this: it is what anybody can verify later."""

    @classmethod
    def of(cls, receipt: JsonObject) -> Issued:
        return cls(receipt, canonicalize(receipt))
