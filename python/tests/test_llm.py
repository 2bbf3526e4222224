"""The command line ``llm`` with a model of the service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from support import front, with_node

from tallystick import Client, verify

pytest.importorskip("llm")
pytestmark = with_node

SAID = "Grüße from the upstream 🌍."
SCRIPTED = """
    (body.tools && body.messages.at(-1).role === 'user'
      ? { toolCalls: [{ id: 'call_1', name: 'weather', pieces: ['{"ci', 'ty":"Zürich"}'] }] } : {})
"""
MODELS = """
- model_id: tallystick
  model_name: {model}
  api_base: {base_url}
  api_key_name: tallystick
  supports_tools: true
"""
Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from front(tmp_path_factory.mktemp("front"), SCRIPTED)


@pytest.fixture
def run(base_url: str, tmp_path: Path) -> Run:
    """Runs ``llm`` with a folder of its own."""

    def run(*args: str, model: str = "gpt-4o-mini") -> subprocess.CompletedProcess[str]:
        models = MODELS.format(model=model, base_url=base_url)
        (tmp_path / "extra-openai-models.yaml").write_text(models)
        (tmp_path / "keys.json").write_text('{"tallystick": "sk-of-somewhere-else"}')
        return subprocess.run(
            [sys.executable, "-m", "llm", *args],
            env={**os.environ, "LLM_USER_PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


def logged(run: Run) -> dict[str, Any]:
    """What ``llm`` keeps of the last call."""
    entries: list[dict[str, Any]] = json.loads(run("logs", "-n", "1", "--json").stdout)
    return entries[0]


def test_stream(run: Run) -> None:
    done = run("-m", "tallystick", "Say it.")
    assert (done.stdout, done.stderr) == (f"{SAID}\n", "")


def test_in_one_piece_the_log_has_the_receipts_id(run: Run, base_url: str) -> None:
    done = run("-m", "tallystick", "--no-stream", "Say it.")
    assert (done.stdout, done.stderr) == (f"{SAID}\n", "")
    receipt_id = logged(run)["response_json"]["svc"]["receipt"]["receipt_id"]
    with Client(base_url.removesuffix("/v1/compute")) as service:
        receipt = service.get_receipt(receipt_id)
        assert verify(receipt.text, trust=service.fetch_trust()).issuer.trusted


def test_tools(run: Run) -> None:
    weather = "def weather(city: str) -> str:\n    return f'9 degrees in {city}'"
    done = run("-m", "tallystick", "--functions", weather, "--td", "Weather?")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{SAID}\n"
    assert "9 degrees in Zürich" in done.stderr


def test_an_error_in_its_own_words(run: Run) -> None:
    done = run("-m", "tallystick", "Say it.", model="gpt-99")
    assert done.returncode == 1
    assert "gpt-99" in done.stderr
