"""What the tests share: vectors, the core and the service on Node, times."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from tallystick import AnchorTransaction, SettlementTransaction, TallyError, TokenTransfer

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "spec" / "vectors"
SHARED = ROOT.parent / "shared" / "vectors"
# npm brings a Node that is new enough along where it can.
_BUNDLED_NODE = ROOT / "node_modules" / ".bin" / "node"
NODE = str(_BUNDLED_NODE) if _BUNDLED_NODE.exists() else "node"
TALLY = ROOT / "packages" / "cli" / "bin" / "tally.js"

NOW = datetime(2026, 1, 15, 12, tzinfo=timezone.utc)

Case = dict[str, Any]

STORES: Case = json.loads((VECTORS / "issuer-stores.json").read_text())
"""Lists of issuer records that a verifier may know, by name."""

with_shared = pytest.mark.skipif(not SHARED.exists(), reason=f"{SHARED} is absent")
with_node = pytest.mark.skipif(
    not (ROOT / "node_modules").exists() and not os.environ.get("CI"),
    reason="npm ci has not been run",
)


def vectors(file: str) -> list[Any]:
    """The cases of a file of ``spec/vectors``, each under its name."""
    cases: list[Case] = json.loads((VECTORS / file).read_text())
    return [pytest.param(case, id=case["name"]) for case in cases]


def transaction_of(facts: Case | None) -> AnchorTransaction | None:
    if facts is None:
        return None
    return AnchorTransaction(
        **{"sender" if name == "from" else name: value for name, value in facts.items()}
    )


def payment_of(facts: Case | None) -> SettlementTransaction | None:
    if facts is None:
        return None
    transfers = tuple(
        TokenTransfer(one["token"], one["from"], one["to"], int(one["amount"]))
        for one in facts["transfers"]
    )
    return SettlementTransaction(
        facts["chain_id"], facts["tx_hash"], facts["block_height"], transfers
    )


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def outcome(act: Callable[[], Case]) -> Case:
    """What ``act`` gives, or the code of the error that it raises."""
    try:
        return act()
    except TallyError as error:
        return {"code": error.code}


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(TallyError) as caught:
        act()
    return caught.value.code


def core(body: str, value: object) -> Any:
    """What JavaScript over the TypeScript core returns; it sees ``core`` and ``value``."""
    script = f"""
        import * as core from {json.dumps((ROOT / "packages/core/src/index.ts").as_uri())};
        import {{ text }} from 'node:stream/consumers';
        const value = JSON.parse(await text(process.stdin));
        const answer = await (async () => {{ {body} }})();
        console.log(JSON.stringify(answer ?? null));
    """
    done = subprocess.run(
        [NODE, "--input-type=module", "--eval", script],
        input=json.dumps(value),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def tally(*args: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """One run of the command line; ``home`` is where it keeps trust."""
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    return subprocess.run(
        [NODE, TALLY, *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
        cwd=home,
    )


def api_key(data_dir: Path, tier: str) -> str:
    """A fresh API key of the service that has its data there."""
    return operate(data_dir, "apikey", "create", "--tier", tier)


def operate(data_dir: Path, *args: str) -> str:
    """What a command of the operator prints, for the service that has its data there."""
    environment = {**os.environ, "TALLY_DATA_DIR": str(data_dir), "NODE_ENV": "test"}
    done = subprocess.run(
        [NODE, TALLY, *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def serve(data_dir: Path, **settings: str) -> Iterator[str]:
    """Runs ``tally serve`` on a free port; its URL. Roots are posted every other second."""
    environment = {
        **os.environ,
        "PORT": "0",
        "TALLY_DATA_DIR": str(data_dir),
        "NODE_ENV": "test",
        "TALLY_ANCHOR_PERIOD_SECONDS": "2",
        "TALLY_CONFIG": str(ROOT / "packages/server/test/models.json"),
        **settings,
    }
    with subprocess.Popen(
        [NODE, TALLY, "serve"], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        ready = (line for line in process.stdout if "ready on " in line)
        try:
            yield next(ready).rsplit(maxsplit=1)[1]
        finally:
            process.terminate()
            process.stdout.read()
            process.wait(timeout=20)


def upstream(scripted: str) -> Iterator[str]:
    """Runs a server that speaks the wire formats of OpenAI and Anthropic; its URL.

    ``scripted`` is JavaScript: what is answered to the request ``body``, as a script of
    ``packages/server/test/upstream-script.ts``.
    """
    module = (ROOT / "packages/server/test/upstream.ts").as_uri()
    script = f"""
        import {{ startUpstream }} from {json.dumps(module)};
        const upstream = await startUpstream();
        upstream.always(({{ body }}) => ({{ ...{scripted} }}));
        console.log(upstream.url);
    """
    with subprocess.Popen(
        [NODE, "--input-type=module", "--eval", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait(timeout=20)


def front(data_dir: Path, scripted: str) -> Iterator[str]:
    """Runs a service in front of an upstream that answers as scripted; its URL for clients."""
    for url in upstream(scripted):
        settings = {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "sk-op",
            "TALLY_DEVNET": "off",
        }
        for service in serve(data_dir, **settings):
            yield f"{service}/v1/compute"
