"""Witness policies (C2SP tlog-policy): which witnesses must have cosigned a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..ed25519 import public_key_fault
from ..encoding import from_base64
from ..errors import TallyError
from ..ml_dsa import has_ml_dsa
from .checkpoint import Checkpoint, open_checkpoint, parse_checkpoint_text
from .cosignature import (
    COSIGNATURE,
    ML_DSA_COSIGNATURE,
    check_cosignature,
    cosignature_key_hash,
    cosignature_type,
)
from .note import ED25519, is_key_name, note_key_hash, parse_note

_MAX_BYTES = 262_144
_NONE = "none"
_KEY = re.compile(r"([^+]+)\+([0-9a-fA-F]{8})\+(\S+)")
_THRESHOLD = re.compile("[1-9][0-9]{0,5}")

# Least and greatest number of items after each keyword; ``None`` for no limit.
_COUNTS: dict[str, tuple[int, int | None]] = {
    "log": (1, 2),
    "witness": (2, 3),
    "group": (3, None),
    "quorum": (1, 1),
}


class WitnessPolicyError(TallyError):
    """A text is not a witness policy (``witness_policy_invalid``).

    ``reason`` is a stable name (spec/anchor.md). ``line`` counts from 1; it is ``None`` if the
    fault is of the whole text.
    """

    def __init__(self, reason: str, message: str, line: int | None = None) -> None:
        where = "" if line is None else f"Line {line}: "
        super().__init__("witness_policy_invalid", f"{where}{message}")
        self.reason = reason
        self.line = line


@dataclass(frozen=True)
class Witnessed:
    """The third verdict: whether enough of the witnesses that the verifier chose cosigned."""

    required: int
    """Least number of cosignatures that can meet the quorum."""
    satisfied: bool
    """A log of the policy signed the checkpoint, and the quorum cosigned it."""
    by: tuple[str, ...]
    """Names, as in the policy, of the witnesses in the quorum that cosigned."""
    of: int
    """Number of witnesses in the quorum."""


class NamedKey(NamedTuple):
    """The name of a key, and its 32 bytes, or 1,312 of a witness's ML-DSA-44 key."""

    name: str
    public_key: bytes


class _TypedKey(NamedTuple):
    name: str
    type: int
    public_key: bytes


class _Group(NamedTuple):
    name: str
    threshold: int
    members: tuple[str, ...]


@dataclass(frozen=True)
class WitnessPolicy:
    """A parsed policy. Make one with ``parse_witness_policy``."""

    logs: tuple[NamedKey, ...]
    """The logs that count; where there is none, those that the verifier knows otherwise."""
    witnesses: tuple[tuple[str, NamedKey | None], ...]
    """Name and key of each; ``None`` for a key of a type that is not known here."""
    groups: tuple[_Group, ...]
    quorum: str | None
    findings: tuple[str, ...]
    """Remarks on keys of types that are not known here, and so never count."""

    def judge(self, note: str | None, known: Sequence[NamedKey] = ()) -> tuple[Witnessed, str]:
        """Judges a checkpoint, and says why in a sentence.

        - ``note``: its signed note; ``None`` if there is none that proves anything
        - ``known``: the logs that count if the policy names none
        """
        counted = self._witnesses_of_quorum()
        required = self._least()

        def unmet(detail: str, by: Sequence[str] = ()) -> tuple[Witnessed, str]:
            return Witnessed(required, False, tuple(by), len(counted)), detail

        if note is None:
            detail = "There is no checkpoint that covers the receipt, so nobody has witnessed it."
            return unmet(detail)
        try:
            origin = _open_by_any(note, self.logs or tuple(known)).origin
            cosigned = {
                name for name, key in self.witnesses if key is not None and _has_cosigned(note, key)
            }
        except TallyError as error:
            return unmet(error.message)
        by = [name for name in counted if name in cosigned]
        tally = (
            f"{len(by)} of the {len(counted)} witnesses of the policy cosigned "
            f"this checkpoint of {origin}"
        )
        if not self._is_met(cosigned):
            return unmet(f"{tally}; at least {required} must have.", by)
        none = f"The policy requires no witness for {origin}."
        detail = none if required == 0 else f"{tally}."
        return Witnessed(required, True, tuple(by), len(counted)), detail

    def _is_met(self, cosigned: set[str]) -> bool:
        """Groups come after their members."""
        met = set(cosigned)
        for group in self.groups:
            if len(met.intersection(group.members)) >= group.threshold:
                met.add(group.name)
        return self.quorum is None or self.quorum in met

    def _least(self) -> int:
        least = {name: 1 for name, _ in self.witnesses}
        for group in self.groups:
            costs = sorted(least[member] for member in group.members)
            least[group.name] = sum(costs[: group.threshold])
        return 0 if self.quorum is None else least[self.quorum]

    def _witnesses_of_quorum(self) -> list[str]:
        within = set() if self.quorum is None else {self.quorum}
        for group in reversed(self.groups):
            if group.name in within:
                within.update(group.members)
        return [name for name, _ in self.witnesses if name in within]


def parse_witness_policy(text: bytes | str) -> WitnessPolicy:
    """Parses a policy in C2SP's form. Raises ``WitnessPolicyError`` with a reason and a line."""
    source = _decode(_utf8(text) if isinstance(text, str) else text)
    reader = _Reader()
    for number, line in enumerate(source.split("\n"), 1):
        items = [item for item in re.split("[ \t]+", line) if item != ""]
        if items and not items[0].startswith("#"):
            reader.read(items, number)
    return reader.finish()


def _utf8(text: str) -> bytes:
    """Half of a surrogate pair becomes U+FFFD, as in a TextEncoder of JavaScript."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def _decode(data: bytes) -> str:
    """UTF-8, or for any other encoding one character for each byte."""
    if len(data) > _MAX_BYTES:
        message = f"A witness policy has at most {_MAX_BYTES} bytes here."
        raise WitnessPolicyError("too_long", message)
    control = re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", data)
    if control is not None:
        line = data.count(b"\n", 0, control.start()) + 1
        found = f"0x{control[0].hex()}"
        message = f"The only control characters are tab and newline, not {found}."
        raise WitnessPolicyError("control_character", message, line)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


class _Reader:
    """Collects the lines of a policy."""

    def __init__(self) -> None:
        self._line = 0
        self._logs: list[NamedKey] = []
        self._witnesses: list[tuple[str, NamedKey | None]] = []
        self._groups: list[_Group] = []
        self._findings: list[str] = []
        self._names: set[str] = set()
        self._members: set[str] = set()
        self._keys: set[tuple[str, int, bytes]] = set()
        self._quorum: str | None = None

    def read(self, line: Sequence[str], number: int) -> None:
        self._line = number
        keyword, *items = line
        if keyword not in _COUNTS:
            raise self._fault(
                "unknown_keyword", f"“{keyword}” is not log, witness, group or quorum."
            )
        least, most = _COUNTS[keyword]
        if len(items) < least or (most is not None and len(items) > most):
            wanted = f"at least {least}" if most is None else f"{least} to {most}"
            message = f"“{keyword}” takes {wanted} items, not {len(items)}."
            raise self._fault("field_count", message)
        if keyword == "log":
            self._add_log(items[0])
        elif keyword == "witness":
            self._add_witness(items[0], items[1])
        elif keyword == "group":
            self._add_group(items[0], items[1], items[2:])
        else:
            self._set_quorum(items[0])

    def finish(self) -> WitnessPolicy:
        if self._quorum is None:
            message = "A witness policy has a line “quorum <name>”, or “quorum none”."
            raise WitnessPolicyError("quorum_missing", message)
        return WitnessPolicy(
            tuple(self._logs),
            tuple(self._witnesses),
            tuple(self._groups),
            None if self._quorum == _NONE else self._quorum,
            tuple(self._findings),
        )

    def _fault(self, reason: str, message: str) -> WitnessPolicyError:
        return WitnessPolicyError(reason, message, self._line)

    def _add_log(self, vkey: str) -> None:
        read = self._read_key("log", vkey)
        if read.type == COSIGNATURE:
            raise self._fault("key_type", f"The key of {read.name} is a witness's, not a log's.")
        key = self._known_key(read, ED25519, f"the log {read.name}")
        # A log that cannot be checked is kept without its name: no checkpoint is of it, and no
        # other log counts in its place.
        self._logs.append(NamedKey("", read.public_key) if key is None else key)

    def _add_witness(self, name: str, vkey: str) -> None:
        self._define(name)
        read = self._read_key("witness", vkey)
        if read.type == ED25519:
            message = (
                f"The key of {name} is of type 0x01, which signs notes; "
                "a witness's is of type 0x04 or 0x06."
            )
            raise self._fault("key_type", message)
        if read.type == ML_DSA_COSIGNATURE:
            self._witnesses.append((name, self._ml_dsa_key(read, name)))
        else:
            key = self._known_key(read, COSIGNATURE, f"the witness {name}")
            self._witnesses.append((name, key))

    def _add_group(self, name: str, threshold: str, members: Sequence[str]) -> None:
        for member in members:
            if member not in self._names:
                message = f"No line before this one defines “{member}”."
                raise self._fault("unknown_name", message)
            if member in self._members:
                raise self._fault("member_twice", f"“{member}” is a member of a group already.")
            self._members.add(member)
        self._define(name)
        needed = self._threshold(threshold, len(members))
        self._groups.append(_Group(name, needed, tuple(members)))

    def _set_quorum(self, name: str) -> None:
        if self._quorum is not None:
            raise self._fault("quorum_twice", "There is more than one quorum line.")
        if name != _NONE and name not in self._names:
            raise self._fault("unknown_name", f"No line before this one defines “{name}”.")
        self._quorum = name

    def _define(self, name: str) -> None:
        if name == _NONE:
            message = "“none” can’t be the name of a witness or group."  # noqa: RUF001
            raise self._fault("reserved_name", message)
        if name in self._names:
            raise self._fault("duplicate_name", f"“{name}” is defined twice.")
        self._names.add(name)

    def _read_key(self, role: str, vkey: str) -> _TypedKey:
        match = _KEY.fullmatch(vkey)
        data = None if match is None else from_base64(match[3])
        if match is None or not data or not is_key_name(match[1]):
            raise self._malformed(vkey)
        key = _TypedKey(match[1], data[0], data[1:])
        if note_key_hash(key.name, key.type, key.public_key) != int(match[2], 16):
            raise self._malformed(vkey)
        identity = (role, key.type, key.public_key)
        if identity in self._keys:
            raise self._fault("duplicate_key", f"Two lines have the public key of {key.name}.")
        self._keys.add(identity)
        return key

    def _malformed(self, vkey: str) -> WitnessPolicyError:
        message = f"“{vkey}” is not a key as <name>+<8 hex>+<base64> whose id matches."
        return self._fault("key_malformed", message)

    def _known_key(self, key: _TypedKey, expected: int, whose: str) -> NamedKey | None:
        if key.type != expected:
            self._findings.append(
                f"Line {self._line}: the key of {whose} is of type 0x{key.type:02x}, "
                "which is not known here, so it never counts."
            )
            return None
        fault = public_key_fault(key.public_key)
        if fault is not None:
            raise self._fault("key_malformed", f"The public key of {key.name} {fault}.")
        return NamedKey(key.name, key.public_key)

    def _ml_dsa_key(self, key: _TypedKey, witness: str) -> NamedKey | None:
        if cosignature_type(key.public_key) != ML_DSA_COSIGNATURE:
            message = f"The public key of {key.name} is not 1312 bytes."
            raise self._fault("key_malformed", message)
        if has_ml_dsa():
            return NamedKey(key.name, key.public_key)
        self._findings.append(
            f"Line {self._line}: the key of the witness {witness} is of type 0x06, which takes "
            "cryptography 47 or later, so it never counts."
        )
        return None

    def _threshold(self, text: str, members: int) -> int:
        if text == "any":
            return 1
        if text == "all":
            return members
        threshold = int(text) if _THRESHOLD.fullmatch(text) else 0
        if 1 <= threshold <= members:
            return threshold
        message = f"“{text}” is not any, all, or a number from 1 to {members}."
        raise self._fault("threshold", message)


def _open_by_any(note: str, logs: Sequence[NamedKey]) -> Checkpoint:
    origin = parse_checkpoint_text(parse_note(note).text).origin
    message = f"The log {origin} is not one of the policy's."
    fault = TallyError("checkpoint_signature_invalid", message)
    for log in logs:
        if log.name != origin:
            continue
        try:
            return open_checkpoint(note, origin=origin, public_key=log.public_key)
        except TallyError as error:
            fault = error
    raise fault


def _has_cosigned(note: str, key: NamedKey) -> bool:
    """Raises for a cosignature that says to be of the key and is not good."""
    if check_cosignature(note, name=key.name, public_key=key.public_key) is not None:
        return True
    key_hash = cosignature_key_hash(key.name, key.public_key)
    if not any(line.is_by(key.name, key_hash) for line in parse_note(note).signatures):
        return False
    message = f"The cosignature of {key.name} does not cover this checkpoint."
    raise TallyError("checkpoint_signature_invalid", message)
