"""The code in the README and on the landing page runs as printed."""

from __future__ import annotations

import html
import re

import pytest
from support import ROOT, with_node

DEFAULT_URL = "http://127.0.0.1:8787"
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "python" / "README.md").read_text(), re.DOTALL)


@with_node
@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_block(
    code: str,
    service: str,
    pro_key: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TALLY_API_KEY", pro_key)
    exec(compile(code.replace(DEFAULT_URL, service), "README.md", "exec"), {})
    printed = capsys.readouterr().out
    expected = {
        "mint_free": "True True\nformat True",
        "AgentAuth": "True True\n",
        "OpenAI(": "r_env_ True True\n",
        "issue(": '{"amount_usd":1250.5,',
        "wait_for": "anchor True\nanchor_checkpoint True\nanchor_transaction None\n",
        "open_session(": "True True closed\n['edited']\n",
        "build_bill": "metered_units_partially_evidence_backed\n",
    }
    assert [printed.startswith(text) for name, text in expected.items() if name in code] == [True]


def test_blocks_are_found() -> None:
    assert len(BLOCKS) == 7


@with_node
def test_landing_page(service: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "packages" / "web" / "src" / "landing" / "page.html").read_text()
    found = re.search(r'id="code-python".*?<pre>(.*?)</pre>', page, re.DOTALL)
    assert found is not None
    code = html.unescape(re.sub(r"<[^>]+>", "", found[1])).replace("$TALLY_URL", service)
    exec(compile(code, "page.html", "exec"), {})
    assert capsys.readouterr().out == "True\n"
