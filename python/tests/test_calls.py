"""Inference calls and their receipts, by the vectors that every implementation reads."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

import pytest
from support import STORES, VECTORS, Case, core, instant, vectors, with_node

from tallystick import CallCollector, CallVerdict, Trust, verify_call

FILES = sorted(file.name for file in VECTORS.glob("calls-*.json"))
CASES = [
    pytest.param(*one.values, id=f"{file}: {one.id}") for file in FILES for one in vectors(file)
]


def verdict_on(case: Case, response: Any) -> CallVerdict:
    return verify_call(
        request=case["request"],
        response=response,
        receipt=case.get("receipt"),
        now=instant(case["now"]),
        trust=Trust(STORES[case["trust"]]),
    )


def summary(verdict: CallVerdict) -> Case:
    """The verdict in the terms of the vectors."""
    hashes = {one.name: one.hash for one in verdict.checks}
    return {
        "valid": verdict.valid,
        "integrity": verdict.integrity,
        "trusted": verdict.issuer.trusted,
        "protocol": verdict.protocol,
        "failed_checks": [one.name for one in verdict.checks if one.ok is False],
        "request_hash": hashes["request"],
        "response_hash": hashes["response"],
    }


def test_there_are_vectors_of_every_protocol() -> None:
    protocols = ["chat", "completions", "messages", "responses"]
    assert [f"calls-{protocol}.json" for protocol in protocols] == FILES
    assert len(CASES) > 100


@pytest.mark.parametrize("case", CASES)
def test_call(case: Case) -> None:
    assert summary(verdict_on(case, case["response"])) == case["expected"]


@pytest.mark.parametrize("case", CASES)
def test_a_collector_takes_the_answer_in_any_pieces(case: Case) -> None:
    data = case["response"].encode()
    whole = verdict_on(case, data)
    random = Random(case["name"])
    for longest in (1, 7, 100):
        collector = CallCollector()
        start = 0
        while start < len(data):
            end = start + random.randint(0, longest)
            collector.push(data[start:end])
            start = end
        assert verdict_on(case, collector) == whole


@with_node
@pytest.mark.parametrize("file", FILES)
def test_the_core_gives_the_same_verdict_in_every_word(file: str) -> None:
    cases = [one.values[0] for one in vectors(file)]
    theirs = core(
        """
        return Promise.all(value.cases.map(({ request, response, receipt, now, trust }) =>
          core.verifyCall({
            request, response, receipt,
            now: Date.parse(now),
            trust: core.trustOf(value.stores[trust]),
          })));
        """,
        {"cases": cases, "stores": STORES},
    )
    assert [verdict_on(case, case["response"]).to_json() for case in cases] == theirs


def test_what_was_not_given_is_not_checked() -> None:
    verdict = verify_call()
    found = {one.name: one.ok for one in verdict.checks}
    assert found == {
        "receipt": False,
        "format": False,
        "signature": None,
        "request": None,
        "response": None,
    }
    assert (verdict.valid, verdict.receipt, verdict.protocol) == (False, None, None)


def test_what_is_no_object_is_no_receipt_that_was_judged() -> None:
    verdict = verify_call(receipt=b"[]")
    assert (verdict.valid, verdict.receipt) == (False, None)


def test_an_answer_that_is_too_large_is_told_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick._lib.call.collector.MAX_HELD_BYTES", 100)
    for start in (b"{", b"data: "):
        collector = CallCollector()
        for _ in range(20):
            collector.push(start + b" " * 10)
            start = b""
        answer = collector.end()
        assert answer.hash is None
        assert answer.fault is not None
        assert "at most 100 bytes" in answer.fault
        assert collector.end() == answer
        assert asdict(answer)["svc"] is None
