"""Writes the blocking client, ``_lib/client/synchronous``, from the one for asyncio.

``python scripts/unasync.py`` runs it; a test compares.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "tallystick"
CLIENT = PACKAGE / "_lib" / "client"

_CHANGES = (
    (r"^import asyncio\nimport time\n", "import time\n"),
    (r"^import asyncio\n", "import time\n"),
    (r"asyncio\.sleep", "time.sleep"),
    (r"Iterable\[JsonValue\] \| AsyncIterable\[JsonValue\]", "Iterable[JsonValue]"),
    (r"import AsyncIterable, Iterable", "import Iterable"),
    (r"AsyncIterable", "Iterable"),
    (r"AsyncGenerator\[([\w.]+), None\]", r"Generator[\1, None, None]"),
    (r"\ba(read|iter_bytes)\(", r"\1("),
    (r"async_chunks", "chunks"),
    (r", for asyncio\. Close it", ". It is thread-safe. Close it"),
    (r"The client for asyncio, from which [^\"]*", "The blocking client."),
    (r"The client for asyncio\.", "The blocking client."),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\ba(enter|exit|close)(?=__|\()", r"\1"),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\basync (def|with|for) ", r"\1 "),
    (r"\bawait ", ""),
    (r"an ``async with`` block", "a ``with`` block"),
)
_HEADER = "# Written by scripts/unasync.py from ../asynchronous/{}; do not edit.\n"


def synchronous() -> dict[str, str]:
    """The text of each file of the blocking client, by its name."""
    return {file.name: _rewritten(file) for file in sorted((CLIENT / "asynchronous").glob("*.py"))}


def _rewritten(file: Path) -> str:
    text = file.read_text()
    for pattern, replacement in _CHANGES:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return formatted(_HEADER.format(file.name) + text, CLIENT / "synchronous" / file.name)


def formatted(text: str, file: Path) -> str:
    """The text as the project's formatter writes it to this file."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(file), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    for name, text in synchronous().items():
        (CLIENT / "synchronous" / name).write_text(text)
