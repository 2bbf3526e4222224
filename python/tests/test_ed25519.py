"""The signature profile, against Wycheproof and against itself."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from support import SHARED, code_of, with_shared

from tallystick import create_signer, generate_secret_key, verify_ed25519
from tallystick._lib.ed25519 import public_key_fault, signature_fault

SIGNER = create_signer(bytes(range(32)))


@with_shared
def test_wycheproof() -> None:
    groups = json.loads((SHARED / "wycheproof" / "ed25519_test.json").read_text())["testGroups"]
    count = 0
    for group in groups:
        key = bytes.fromhex(group["publicKey"]["pk"])
        for case in group["tests"]:
            count += 1
            message, signature = bytes.fromhex(case["msg"]), bytes.fromhex(case["sig"])
            good = verify_ed25519(key, message, signature)
            assert good is (case["result"] == "valid"), case["comment"]
    assert count == 151


@given(st.binary(max_size=100), st.integers(0, 64 * 8 - 1))
def test_any_changed_bit_breaks_a_signature(message: bytes, bit: int) -> None:
    signature = bytearray(SIGNER.sign(message))
    assert verify_ed25519(SIGNER.public_key, message, bytes(signature))
    signature[bit // 8] ^= 1 << bit % 8
    assert not verify_ed25519(SIGNER.public_key, message, bytes(signature))


def test_bad_lengths_are_false_and_no_error() -> None:
    signature = SIGNER.sign(b"")
    assert not verify_ed25519(SIGNER.public_key[:31], b"", signature)
    assert not verify_ed25519(SIGNER.public_key, b"", signature + b"\0")


def test_keys() -> None:
    assert len({generate_secret_key() for _ in range(3)}) == 3
    assert code_of(lambda: create_signer(b"short")) == "invalid_secret_key"
    assert "_secret" not in repr(SIGNER)


def test_faults_are_found_before_any_library_is_asked() -> None:
    order = (2**252 + 27742317777372353535851937790883648493).to_bytes(32, "little")
    signature = SIGNER.sign(b"")
    assert signature_fault(signature) is None
    fault = signature_fault(signature[:32] + order)
    assert fault == "has an S that is not below the group order"
    assert signature_fault(bytes(64)) == "has an R that is of small order"
    assert public_key_fault(b"\xff" * 32) == "is not canonical"
