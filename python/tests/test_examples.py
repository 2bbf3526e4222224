"""The examples in Python run as they are."""

from __future__ import annotations

import pytest
from support import ROOT, with_node


@with_node
def test_openai_client(
    service: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("TALLY_URL", service)
    file = ROOT / "examples" / "openai_client.py"
    exec(compile(file.read_text(), file.name, "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert "7:40" in printed
    assert printed.endswith("receipt: intact True, from a trusted issuer True\n")
