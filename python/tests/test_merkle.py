"""Merkle trees, against the corpus of transparency-dev, the page of spec/ and themselves."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT, SHARED, code_of, with_shared

from tallystick._lib.merkle import (
    CompactRange,
    consistency_proof,
    empty_root,
    inclusion_proof,
    leaf_hash,
    merkle_root,
    node_hash,
    root_from_inclusion,
    verify_consistency,
    verify_inclusion,
)

LEAVES = [leaf_hash(bytes([n])) for n in range(40)]


def corpus(name: str) -> list[Any]:
    cases: list[Any] = json.loads((SHARED / "rfc6962" / f"{name}.json").read_text())
    assert len(cases) == 98
    return cases


def hashes(values: list[str] | None) -> list[bytes]:
    return [base64.b64decode(value or "") for value in values or []]


@with_shared
def test_inclusion_corpus() -> None:
    for case in corpus("inclusion"):
        holds = verify_inclusion(
            index=case["leafIdx"],
            size=case["treeSize"],
            leaf=base64.b64decode(case["leafHash"] or ""),
            path=hashes(case["proof"]),
            root=base64.b64decode(case["root"] or ""),
        )
        assert holds is not case["wantErr"], case["name"]


@with_shared
def test_consistency_corpus() -> None:
    for case in corpus("consistency"):
        holds = verify_consistency(
            size1=case["size1"],
            size2=case["size2"],
            root1=base64.b64decode(case["root1"] or ""),
            root2=base64.b64decode(case["root2"] or ""),
            path=hashes(case["proof"]),
        )
        assert holds is not case["wantErr"], case["name"]


def test_the_example_of_the_specification() -> None:
    page = (ROOT / "spec" / "merkle.md").read_text()
    found = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert found is not None
    example = json.loads(found[1])
    leaves = [leaf_hash(bytes.fromhex(leaf)) for leaf in example["leaves"]]
    assert [leaf.hex() for leaf in leaves] == example["leaf_hashes"]
    roots = [merkle_root(leaves[:size]).hex() for size in range(len(leaves) + 1)]
    assert roots == example["roots"]
    inclusion, consistency = example["inclusion"], example["consistency"]
    path = inclusion_proof(leaves[: inclusion["size"]], inclusion["index"])
    assert [one.hex() for one in path] == inclusion["path"]
    path = consistency_proof(leaves[: consistency["size2"]], consistency["size1"])
    assert [one.hex() for one in path] == consistency["path"]


@given(st.integers(1, 40), st.data())
def test_proofs_hold_and_any_other_place_does_not(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    other = data.draw(
        st.integers(0, size - 1).filter(lambda n: n != index) if size > 1 else st.just(1)
    )
    root = merkle_root(LEAVES[:size])
    path = inclusion_proof(LEAVES[:size], index)
    assert root_from_inclusion(index, size, LEAVES[index], path) == root
    claim: dict[str, Any] = {"size": size, "leaf": LEAVES[index], "path": path, "root": root}
    assert not verify_inclusion(index=other, **claim)


@given(st.integers(1, 40), st.integers(1, 40))
def test_a_tree_is_consistent_with_its_start(a: int, b: int) -> None:
    size1, size2 = sorted((a, b))
    root1, root2 = merkle_root(LEAVES[:size1]), merkle_root(LEAVES[:size2])
    path = consistency_proof(LEAVES[:size2], size1)
    claim: dict[str, Any] = {"size1": size1, "size2": size2, "path": path}
    assert verify_consistency(root1=root1, root2=root2, **claim)
    assert not verify_consistency(root1=root1, root2=empty_root(), **claim)


def test_ranges_and_lengths_are_refused() -> None:
    assert CompactRange().root() == empty_root()
    assert code_of(lambda: CompactRange().append(b"short")) == "invalid_field"
    assert code_of(lambda: node_hash(LEAVES[0], b"")) == "invalid_field"
    assert code_of(lambda: inclusion_proof(LEAVES[:3], 3)) == "merkle_range"
    assert code_of(lambda: consistency_proof(LEAVES[:3], 0)) == "merkle_range"
    assert code_of(lambda: root_from_inclusion(0, 2, LEAVES[0], [])) == "invalid_field"


@pytest.mark.parametrize("size1", [0, 4])
def test_no_consistency_from_nothing_or_from_more(size1: int) -> None:
    root = merkle_root(LEAVES[:3])
    assert not verify_consistency(size1=size1, size2=3, root1=root, root2=root, path=[])
