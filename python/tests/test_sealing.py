"""Sealed documents: the example of spec/, the core, Wycheproof."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT, SHARED, code_of, core, with_node, with_shared

from tallystick import SealedDocument, open_seal, seal, seal_reference

KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))


def example() -> Any:
    page = (ROOT / "spec" / "sealing.md").read_text()
    found = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_example_of_the_specification() -> None:
    shown = example()
    key = bytes.fromhex(shown["key"])
    assert open_seal(shown["sealed"], key, shown["reference"]) == shown["plaintext"].encode()
    assert seal_reference(shown["sealed"]) == shown["reference"]


@given(st.binary(max_size=200))
def test_what_is_sealed_opens(plaintext: bytes) -> None:
    sealed = seal(plaintext, KEY)
    assert open_seal(sealed, KEY, seal_reference(sealed)) == plaintext
    assert code_of(lambda: open_seal(sealed, OTHER_KEY)) == "seal_wrong_key"


@with_node
def test_the_core_opens_what_is_sealed_here_and_the_other_way() -> None:
    ours = seal("grüße".encode(), KEY)
    answer = core(
        """
        const key = core.fromHex(value.key);
        const opened = await core.openSeal(value.sealed, key, value.reference);
        const sealed = await core.seal(core.utf8('zurück'), key);
        const reference = core.sealReference(sealed);
        return { opened: new TextDecoder().decode(opened), sealed, reference };
        """,
        {"key": KEY.hex(), "sealed": ours, "reference": seal_reference(ours)},
    )
    assert answer["opened"] == "grüße"
    assert open_seal(answer["sealed"], KEY, answer["reference"]).decode() == "zurück"


def changed(sealed: SealedDocument, member: str) -> dict[str, Any]:
    text = str(sealed[member])  # type: ignore[literal-required]
    first = "1" if text[0] == "0" else "0"
    return {**sealed, member: first + text[1:]}


@pytest.mark.parametrize("member", ["seal_id", "nonce", "key_commitment", "ciphertext"])
def test_tampering_and_a_wrong_key_are_told_apart(member: str) -> None:
    sealed = seal(b"secret", KEY)
    reference = seal_reference(sealed)
    tampered = changed(sealed, member)
    assert code_of(lambda: open_seal(tampered, KEY, reference)) == "seal_tampered"
    assert code_of(lambda: open_seal(sealed, OTHER_KEY, reference)) == "seal_wrong_key"
    unreferenced = "seal_wrong_key" if member in ("seal_id", "key_commitment") else "seal_tampered"
    assert code_of(lambda: open_seal(tampered, KEY)) == unreferenced


@pytest.mark.parametrize(
    "change",
    [
        {"type": "svc-seal-v2"},
        {"alg": "A128GCM"},
        {"note": 1},
        {"nonce": "AAAA"},
        {"nonce": None},
        {"ciphertext": "AAAA"},
        {"ciphertext": "AAAAAAAAAAAAAAAAAAAAAAAAAA=="},
        {"key_commitment": "A" * 64},
    ],
)
def test_another_form_is_refused(change: dict[str, Any]) -> None:
    sealed: Any = {**seal(b"", KEY), **change}
    assert code_of(lambda: open_seal(sealed, KEY)) == "seal_invalid"
    assert code_of(lambda: seal_reference(sealed)) == "seal_invalid"


def test_keys_are_32_bytes() -> None:
    assert code_of(lambda: seal(b"", KEY[:31])) == "invalid_field"
    assert code_of(lambda: open_seal([], KEY + b"\0")) == "invalid_field"
    assert code_of(lambda: open_seal([], KEY)) == "seal_invalid"
    reference: Any = {}
    assert code_of(lambda: open_seal(seal(b"", KEY), KEY, reference)) == "seal_invalid"


@with_shared
def test_wycheproof_for_the_sizes_that_sealing_uses() -> None:
    groups = json.loads((SHARED / "wycheproof" / "aes_gcm_test.json").read_text())["testGroups"]
    used = [g for g in groups if (g["keySize"], g["ivSize"], g["tagSize"]) == (256, 96, 128)]
    cases = [case for group in used for case in group["tests"]]
    for case in cases:
        key, nonce, aad = (bytes.fromhex(case[name]) for name in ("key", "iv", "aad"))
        plaintext, sealed = bytes.fromhex(case["msg"]), bytes.fromhex(case["ct"] + case["tag"])
        if case["result"] == "valid":
            assert AESGCM(key).encrypt(nonce, plaintext, aad) == sealed
            assert AESGCM(key).decrypt(nonce, sealed, aad) == plaintext
        else:
            with pytest.raises(InvalidTag):
                AESGCM(key).decrypt(nonce, sealed, aad)
    assert len(cases) == 66
