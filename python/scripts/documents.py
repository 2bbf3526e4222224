"""Writes ``tallystick/documents.py``: the types of a service's answers, from its OpenAPI document.

``TALLY_WRITE_SDK_TYPES=1 node scripts/python-tests.js -k generated`` runs it; a test compares.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from textwrap import wrap
from typing import Any

from unasync import PACKAGE, formatted

FILE = PACKAGE / "documents.py"

Schema = dict[str, Any]

ANSWERS = {
    "buyKey": "PurchasedKey",
    "countCalls": "CallCounts",
    "createWebhook": "NewWebhook",
    "estimateChatCompletion": "Estimate",
    "exportEvidence": "EvidenceManifest",
    "getBalance": "Balance",
    "getBalanceStatement": "BalanceStatement",
    "getBenchmark": "Benchmark",
    "getCall": "CallDetail",
    "getCallContent": "CallContent",
    "getCompressionStats": "CompressionStats",
    "getComputeDescriptor": "ComputeDescriptor",
    "getCorrections": "Corrections",
    "getCrosswalk": "RosettaCrosswalk",
    "getDidDocument": "DidDocument",
    "getKeyOrder": "KeyOrder",
    "getLeaderboard": "Leaderboard",
    "getLimits": "LimitsOfCaller",
    "getLogStatus": "LogStatus",
    "getModalityBenchmark": "BenchmarkNode",
    "getModel": "Model",
    "getPricing": "Pricing",
    "getSemanticBenchmark": "BenchmarkNode",
    "getStatus": "Status",
    "getTemporalBenchmark": "BenchmarkNode",
    "getUsage": "Usage",
    "listAnchors": "ListedAnchors",
    "listCalls": "Calls",
    "listEvidenceExports": "EvidenceExports",
    "listKeys": "ApiKeyList",
    "listLeaves": "LeafList",
    "listModels": "ModelList",
    "listPayableResources": "Payable",
    "listPostings": "Postings",
    "listReceipts": "ListedReceipts",
    "listSessions": "ListedSessions",
    "listTenantReceipts": "TenantReceipts",
    "listWebhookDeliveries": "WebhookDeliveries",
    "listWebhooks": "Webhooks",
    "listWithdrawals": "Withdrawals",
    "normalizePolicy": "RosettaAnswer",
    "qualifyOrigin": "Readiness",
    "quoteKey": "KeyQuote",
    "quoteTopUp": "PaymentInstructions",
    "rateCall": "Feedback",
    "registerMember": "Member",
    "requestWithdrawal": "Withdrawal",
    "rotateKey": "NewApiKey",
    "rotateWebhookSecret": "NewWebhook",
    "selectProfile": "Recommendation",
    "testWebhook": "WebhookTest",
    "topUpBalance": "TopUp",
    "updateKey": "ApiKey",
    "verifyMember": "Membership",
}
"""The type of the JSON that each of these operations answers."""

WRITTEN_BY_HAND = {"EnvelopeReceipt": "EnvelopeReceipt"}
"""Components whose types are in ``receipts/documents.py``."""

_HEADER = '''"""What a service answers, as types. They are plain ``dict`` when the program runs.

Written by ``scripts/documents.py`` from the OpenAPI document. Amounts and times are as it says:
decimal text, and UTC timestamps ``YYYY-MM-DDThh:mm:ss[.fraction]Z``. A later service may answer
with more members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from ._lib.json_types import JsonObject
from ._lib.receipts.documents import EnvelopeReceipt

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    %s,
]
'''


class _Writer:
    def __init__(self, components: dict[str, Schema]) -> None:
        self._components = components
        self._written: dict[str, str] = {}
        """Text of each type by its name, the bases of a class before it."""
        self._found: dict[str, str] = {}
        """The annotation of each component."""

    def answer(self, name: str, schema: Schema) -> None:
        """Writes the type of an answer under this name."""
        found = self._type(schema, name)
        if name not in self._written:
            self._written[name] = f"{name}: TypeAlias = {_quoted_if_ahead(found)}\n"

    def text(self) -> str:
        names = ",\n    ".join(f'"{name}"' for name in sorted(self._written))
        return _HEADER % names + "\n\n" + "\n\n".join(self._written.values())

    def _type(self, schema: Schema, name: str) -> str:
        """The annotation of a schema; ``name`` is for the class, if it needs one."""
        if "$ref" in schema:
            return self._component(schema["$ref"].rsplit("/", 1)[1])
        if "enum" in schema:
            literals = [repr(one) for one in schema["enum"] if one is not None]
            return _union([f"Literal[{', '.join(literals)}]"], None in schema["enum"])
        for combination in ("anyOf", "oneOf"):
            if combination in schema:
                return self._any(schema[combination], name)
        if "allOf" in schema:
            return self._all(schema["allOf"], name)
        kinds = schema.get("type", "any")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        found = [self._plain(kind, schema, name) for kind in kinds if kind != "null"]
        return _union(found, "null" in kinds)

    def _component(self, name: str) -> str:
        if name in WRITTEN_BY_HAND:
            return WRITTEN_BY_HAND[name]
        if name not in self._found:
            self._found[name] = self._type(self._components[name], name)
        return self._found[name]

    def _any(self, schemas: list[Schema], name: str) -> str:
        given = [one for one in schemas if one.get("type") != "null"]
        found = [self._type(one, name if len(given) == 1 else f"{name}Other") for one in given]
        return _union(found, len(given) < len(schemas))

    def _all(self, schemas: list[Schema], name: str) -> str:
        bases = [self._type(one, name) for one in schemas if "$ref" in one]
        own = [one for one in schemas if "$ref" not in one]
        merged: Schema = {"properties": {}, "required": []}
        for one in own:
            merged["properties"] |= one.get("properties", {})
            merged["required"] += one.get("required", [])
        self._class(merged, name, bases)
        return name

    def _plain(self, kind: str, schema: Schema, name: str) -> str:
        if kind == "array":
            return f"list[{self._type(schema['items'], self._item(name))}]"
        if kind == "object":
            return self._object(schema, name)
        plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
        return plain[kind]

    def _object(self, schema: Schema, name: str) -> str:
        if schema.get("properties"):
            self._class(schema, name, [])
            return name
        values = schema.get("additionalProperties")
        if isinstance(values, dict) and values:
            return f"dict[str, {self._type(values, self._item(name))}]"
        return "JsonObject"

    def _item(self, name: str) -> str:
        """The name for what is in a list of this name."""
        one = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
        return f"{one}Item" if one in self._components or one == name else one

    def _class(self, schema: Schema, name: str, bases: list[str]) -> None:
        assert name not in self._written, f"there are two types {name}"
        required = schema.get("required", [])
        members = {
            member: (self._type(one, name + _camel(member)), member in required, one)
            for member, one in schema["properties"].items()
        }
        if any(keyword.iskeyword(member) for member in members):
            assert not bases, f"{name} has a member that can't be written in a class"
            self._written[name] = _functional(name, members)
            return
        lines = [f"class {name}({', '.join(bases) or 'TypedDict'}):"]
        lines += _docstring(schema.get("description"), "    ")
        lines.append("")
        for member, (kind, is_required, one) in members.items():
            lines.append(f"    {member}: {kind if is_required else f'NotRequired[{kind}]'}")
            lines += _docstring(one.get("description"), "    ")
        self._written[name] = "\n".join(lines) + "\n"


def _functional(name: str, members: dict[str, tuple[str, bool, Schema]]) -> str:
    lines = [f"{name} = TypedDict(", f'    "{name}",', "    {"]
    for member, (kind, is_required, one) in members.items():
        lines += [f"        # {line}" for line in _wrapped(one.get("description"), 88)]
        lines.append(f'        "{member}": "{kind if is_required else f"NotRequired[{kind}]"}",')
    return "\n".join([*lines, "    },", ")"]) + "\n"


def _docstring(text: str | None, indent: str) -> list[str]:
    lines = _wrapped(text, 100 - len(indent) - 6)
    if len(lines) < 2:
        return [f'{indent}"""{line}"""' for line in lines]
    return [f'{indent}"""{lines[0]}', *(indent + line for line in lines[1:]), f'{indent}"""']


def _wrapped(text: str | None, width: int) -> list[str]:
    plain = re.sub(r"`([^`]+)`", r"``\1``", (text or "").replace("’", "'"))  # noqa: RUF001
    return wrap(plain, width, break_long_words=False, break_on_hyphens=False)


def _union(kinds: Iterable[str], nullable: bool) -> str:
    return " | ".join([*dict.fromkeys(kinds), *(["None"] if nullable else [])])


def _quoted_if_ahead(kind: str) -> str:
    return kind if " | " not in kind else f'"{kind}"'


def _camel(member: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in member.split("_"))


def documents_of(openapi: Schema) -> str:
    """The text of ``tallystick/documents.py`` for an OpenAPI document."""
    writer = _Writer(openapi["components"]["schemas"])
    operations = {
        operation["operationId"]: operation
        for methods in openapi["paths"].values()
        for operation in methods.values()
    }
    for operation_id, name in ANSWERS.items():
        good = next(
            answer
            for status, answer in operations[operation_id]["responses"].items()
            if status.startswith("2")
        )
        content = next(one for kind, one in good["content"].items() if kind.endswith("json"))
        writer.answer(name, content["schema"])
    return formatted(writer.text(), FILE)
