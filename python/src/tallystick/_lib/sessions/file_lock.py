"""The lock beside a session's file: one process records at a time (spec/sessions.md)."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
import time
from pathlib import Path
from typing import Final

from ..canonical import canonicalize, parse_json
from ..errors import TallyError
from ..shape import is_object

_RETRY_SECONDS: Final = 0.01
_NAMING_SECONDS: Final = 10
"""Time in which a process that made a lock has written its name into it."""

_held: set[str] = set()
"""Locks that this process holds."""


class FileLock:
    """A lock that this process holds until ``release``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = _name_of(path)
        _held.add(self._name)

    @classmethod
    def take(cls, path: Path, *, wait_seconds: float) -> FileLock:
        """Makes the file, which holds the process id and the host of whoever has the lock.

        That of a process of this host that is gone is taken over. A lock of another host is never
        taken over, because nobody here can see its process. Raises ``session_in_use`` when it was
        not free for ``wait_seconds``.
        """
        deadline = time.monotonic() + wait_seconds
        while not _try(path):
            if time.monotonic() >= deadline:
                holder = (_text_of(path) or b"").decode(errors="replace").strip()
                message = f"Another process records in this session ({holder})."
                raise TallyError("session_in_use", f"{message} If none does, remove {path}.")
            time.sleep(_RETRY_SECONDS)
        return cls(path)

    def release(self) -> None:
        """Gives the lock back; only the first call does."""
        if self._name in _held:
            _held.remove(self._name)
            self._path.unlink(missing_ok=True)


def _try(path: Path) -> bool:
    if _make(path):
        return True
    found = _text_of(path)
    if found is not None and (_is_held(path, found) or not _remove_stale(path, found)):
        return False
    return _make(path)


def _make(path: Path) -> bool:
    """Returns false if the file exists."""
    text = canonicalize({"host": socket.gethostname(), "pid": os.getpid()})
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(file, "w") as opened:
        opened.write(f"{text}\n")
    return True


def _is_held(path: Path, text: bytes) -> bool:
    made = _made_at(path)
    holder = _holder_in(text)
    if holder is None:
        return time.time() - made < _NAMING_SECONDS
    host, pid = holder
    if host != socket.gethostname():
        return True
    if pid == os.getpid():
        # A process before this one may have had the same number, as the first in a container has.
        return _name_of(path) in _held
    return made >= _machine_started_at() and _is_alive(pid)


def _holder_in(text: bytes) -> tuple[str, int] | None:
    try:
        holder = parse_json(text)
    except TallyError:
        return None
    host, pid = (holder.get("host"), holder.get("pid")) if is_object(holder) else (None, None)
    return (host, pid) if isinstance(host, str) and isinstance(pid, int) and pid > 0 else None


def _machine_started_at() -> float:
    """Unix seconds; 0 where Python can't tell."""
    if sys.platform != "linux":
        return 0
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":
        # There, signal 0 is Ctrl-C.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove_stale(path: Path, text: bytes) -> bool:
    """Removes a lock unless another process has replaced it meanwhile. Returns whether it did."""
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.rename(aside)
    except OSError:
        return True
    try:
        if _text_of(aside) == text:
            return True
        with contextlib.suppress(FileExistsError), path.open("xb") as back, aside.open("rb") as it:
            shutil.copyfileobj(it, back)
        return False
    finally:
        aside.unlink(missing_ok=True)


def _made_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _text_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _name_of(path: Path) -> str:
    return os.path.realpath(path)
