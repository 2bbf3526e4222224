"""A session in a file, which another process can go on with (spec/sessions.md, *The file*)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO

from ..canonical import canonicalize, parse_json
from ..encoding import from_base64url, to_base64url
from ..errors import TallyError
from ..home import own_key, tally_home, write_secret
from ..issue import SigningKey
from ..shape import is_object
from .file_lock import FileLock
from .journal import Journal, open_to_append, unanswered, write_all
from .recorder import RecorderOptions, SessionHead, SessionRecorder
from .salted import commit_salt
from .session import BegunCall, Session
from .session_call import (
    ContinuedSession,
    ParentReceipt,
    SessionOpening,
    is_closing,
    is_opening,
    require_tool,
)
from .session_issuer import SessionIssuer, SessionService, session_issuer
from .session_receipt import SessionReceipt, read_session_receipt

_SUFFIX = ".jsonl"
_SALT_TYPE = "tally-session-salt-v1"
_LONGEST = 1_048_576
"""Bytes of the end of a file that may be a line that was cut: no receipt is so long."""


class SessionFile(Session):
    """A session that is kept in a file. A method that returns a receipt has flushed it to the disk.

    Beside the file are its salt (``.salt``), a secret, the journal of calls that have not ended
    (``.journal``), and a lock (``.lock``).
    """

    path: Path
    """The file, which may be another one than was asked for: see ``open_session_file``."""
    remarks: list[str]
    """What was found when the file was opened, in sentences."""
    resumed: bool
    """Whether an earlier process had opened the session."""

    def __init__(
        self,
        recorder: SessionRecorder,
        options: RecorderOptions,
        signed: Callable[[str], str] | None,
        store: _FileStore,
        *,
        begun: Iterable[BegunCall] = (),
    ) -> None:
        super().__init__(recorder, options, signed, store)
        self.path = store.path
        self.remarks = []
        self.resumed = recorder.head.seq > 0
        self._files = store
        self._unanswered = {call.number: call for call in begun}
        self._begun = max(self._unanswered, default=0)

    def close(self) -> str:
        """Ends the session as ``Session.close`` does, and gives the file back."""
        with self._lock:
            text = super().close()
            self._let_go()
            return text

    def release(self) -> None:
        """Gives the file back and leaves the session open, so that it can be gone on with.

        Calls that have not ended stay in the journal.
        """
        with self._lock:
            self._is_closed = True
            self._let_go()

    def recover(self) -> None:
        """Keeps what only the service has, and records as ``unknown`` what a process began."""
        with self._lock:
            before = self.head.seq
            self._catch_up()
            if self.head.seq > before:
                self.remarks.append(f"Receipts after number {before} came from the service.")
            if self._is_closed:
                why = "The service has closed it. Try again to continue it in another file."
                raise _unusable(self.path, why)
            for call in tuple(self._unanswered.values()):
                said = f"A call of {call.tool} had no answer."
                try:
                    require_tool(call.tool, call.server)
                    self.end(call, outcome="unknown")
                except TallyError as error:
                    if error.code not in ("invalid_field", "receipt_too_large"):
                        raise
                    del self._unanswered[call.number]
                    self._files.forget(call.number)
                    self.remarks.append(f"{said} It can't be recorded: {error.message}")
                else:
                    self.remarks.append(f"{said} Number {self.head.seq} records it as unknown.")

    def _let_go(self) -> None:
        self._files.close()


def open_session_file(
    path: str | os.PathLike[str] | None = None,
    *,
    key: SigningKey | None = None,
    client: SessionService | None = None,
    agent_did: str | None = None,
    parent: ParentReceipt | None = None,
    wait_seconds: float = 0.0,
) -> SessionFile:
    """Opens the session in a file, and makes both if there are none.

    An open session is gone on with; calls that it began and did not end are recorded as
    ``unknown``. If the session is closed, its file stays as it is, and a session that continues it
    goes into ``NAME-2.jsonl``, then ``NAME-3.jsonl``, and so on.

    - ``path``: ``None`` for a new file in ``sessions`` of the user's folder, ``TALLY_HOME``.
    - ``key`` or ``client``: signs every receipt, as for ``open_session``. Without either it is the
      user's own key, ``recorder.json`` in that folder, which is made on first use.
    - ``agent_did`` and ``parent`` are as for ``open_session``; ``parent`` is for a new session.
    - ``wait_seconds``: how long to wait for another process that records in this session.

    Raises ``session_in_use``; ``session_unusable`` if the file can't be gone on with;
    ``invalid_secret_key``; ``OSError``.
    """
    signing = own_key() if key is None and client is None else key
    issuer = session_issuer(signing, client, agent_did)
    opener = _Opener(issuer, secrets.token_hex(16), parent)
    first = _default_path(opener.session_id) if path is None else Path(path)
    first.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    continues: ContinuedSession | None = None
    remarks: list[str] = []
    number = 1
    while True:
        file = first if number == 1 else _numbered(first, number)
        lock = FileLock.take(_beside(file, ".lock"), wait_seconds=wait_seconds)
        try:
            found = _read_file(file, remarks)
            call = None if found is None else found.newest.call
            if call is None or not is_closing(call):
                session = opener.open(file, lock, found, continues)
                session.remarks[:0] = remarks
                return session
        except BaseException:
            lock.release()
            raise
        lock.release()
        continues = {"id": call["session"]["id"], "count": call["count"], "head": call["head"]}
        remarks.append(f"The session in {file} is closed.")
        number += 1


@dataclass(frozen=True)
class _Found:
    """The first and the last receipt of a file."""

    opening: SessionOpening
    newest: SessionReceipt


@dataclass(frozen=True)
class _Opener:
    """Begins a session in a file, or goes on with the one that is there."""

    issuer: SessionIssuer
    session_id: str
    parent: ParentReceipt | None

    def open(
        self, file: Path, lock: FileLock, found: _Found | None, continues: ContinuedSession | None
    ) -> SessionFile:
        if found is None:
            return self._begin(file, lock, continues)
        return self._go_on(file, lock, found)

    def _begin(self, file: Path, lock: FileLock, continues: ContinuedSession | None) -> SessionFile:
        options = RecorderOptions(self.issuer.sign, secrets.token_bytes(32))
        recorder, opening = SessionRecorder.open(
            options, session_id=self.session_id, continues=continues, parent=self.parent
        )
        _write_salt(file, self.session_id, options.salt)
        store = _FileStore(file, lock, ())
        store.add(opening, 0, None)
        _sync_folder_of(file)
        return SessionFile(recorder, options, self.issuer.signed, store)

    def _go_on(self, file: Path, lock: FileLock, found: _Found) -> SessionFile:
        newest = found.newest
        if self.issuer.public_key not in (None, newest.public_key):
            why = "It is signed by another key. Use that key, or another file."
            raise _unusable(file, why)
        salt = _read_salt(file, newest.call["session"]["id"], found.opening)
        head = SessionHead(newest.call["session"]["id"], newest.seq, newest.hash)
        begun = unanswered(_beside(file, ".journal"), newest.seq)
        options = RecorderOptions(self.issuer.sign, salt)
        session = SessionFile(
            SessionRecorder.resume(options, head),
            options,
            self.issuer.signed,
            _FileStore(file, lock, begun),
            begun=begun.values(),
        )
        session.resumed = True
        try:
            session.recover()
        except BaseException:
            session.release()
            raise
        return session


class _FileStore:
    """The receipts of a session on a disk, and its journal."""

    def __init__(self, path: Path, lock: FileLock, begun: Iterable[int]) -> None:
        self.path = path
        self._lock = lock
        self._journal = Journal(_beside(path, ".journal"), begun)
        self._file = open_to_append(path)
        self._size = os.fstat(self._file).st_size
        self._is_closed = False

    def begin(self, call: BegunCall) -> None:
        self._journal.begin(call)

    def add(self, text: str, seq: int, ends: int | None) -> None:
        self._require_alone()
        if ends is not None:
            self._journal.end(ends, seq)
        write_all(self._file, text)
        self._size += len(text.encode()) + 1
        # macOS and Windows have no fdatasync.
        getattr(os, "fdatasync", os.fsync)(self._file)
        if ends is not None:
            self._journal.forget(ends)

    def forget(self, number: int) -> None:
        """Forgets a call that gets no receipt."""
        self._journal.forget(number)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._journal.close()
        os.close(self._file)
        self._lock.release()

    def _require_alone(self) -> None:
        """Whatever a lock missed: two recorders in one file would make it worthless."""
        found = os.fstat(self._file)
        if found.st_nlink == 0:
            raise _unusable(self.path, "It was removed while it was recorded.")
        if found.st_size != self._size:
            message = f"Something else has written into {self.path}."
            raise TallyError("session_in_use", message)


def _read_file(path: Path, remarks: list[str]) -> _Found | None:
    """The first and the last receipt of a file, whose torn end is cut off; ``None`` if none."""
    try:
        with path.open("rb+") as file:
            lines = _whole_lines(file, path, remarks)
    except FileNotFoundError:
        return None
    if not lines:
        return None
    first, newest = _receipt_in(lines[0]), _receipt_in(lines[-1])
    if newest is None or first is None or not is_opening(first.call):
        why = "Its first line does not open a session, or its last is of none."
        raise _unusable(path, why)
    return _Found(first.call, newest)


def _whole_lines(file: BinaryIO, path: Path, remarks: list[str]) -> list[bytes]:
    *lines, torn = file.read().split(b"\n")
    if torn == b"":
        return lines
    if _receipt_in(torn) is not None:
        # Only its line feed is missing.
        file.write(b"\n")
        return [*lines, torn]
    if len(torn) > _LONGEST:
        raise _unusable(path, "Its last line is longer than any receipt.")
    file.truncate(sum(len(line) + 1 for line in lines))
    remarks.append(f"The last line of {path} was cut before its end, and was taken out.")
    return lines


def _receipt_in(line: bytes) -> SessionReceipt | None:
    try:
        return read_session_receipt(line)
    except TallyError:
        return None


def _write_salt(file: Path, session_id: str, salt: bytes) -> None:
    path = _beside(file, ".salt")
    path.unlink(missing_ok=True)
    document = {"salt": to_base64url(salt), "session_id": session_id, "type": _SALT_TYPE}
    write_secret(path, f"{canonicalize(document)}\n")


def _read_salt(file: Path, session_id: str, opening: SessionOpening) -> bytes:
    path = _beside(file, ".salt")
    try:
        document = parse_json(path.read_bytes())
        said = document if is_object(document) else {}
        salt = from_base64url(str(said.get("salt")), 32)
    except (OSError, TallyError):
        raise _unusable(file, f"Its salt, {path}, can't be read.") from None
    is_of_session = said.get("type") == _SALT_TYPE and said.get("session_id") == session_id
    if not is_of_session or commit_salt(salt) != opening["salt_commitment"]:
        raise _unusable(file, f"{path} is not the salt of this session.")
    return salt


def _sync_folder_of(file: Path) -> None:
    """Makes the names in a file's folder durable. Windows can't, and does not need it."""
    if os.name == "nt":
        return
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _default_path(session_id: str) -> Path:
    at = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    return tally_home() / "sessions" / f"{at}-{session_id[:8]}{_SUFFIX}"


def _numbered(path: Path, number: int) -> Path:
    name = path.name
    if name.endswith(_SUFFIX):
        return path.with_name(f"{name.removesuffix(_SUFFIX)}-{number}{_SUFFIX}")
    return path.with_name(f"{name}-{number}")


def _beside(file: Path, suffix: str) -> Path:
    return file.with_name(file.name + suffix)


def _unusable(path: Path, why: str) -> TallyError:
    return TallyError("session_unusable", f"{path} can't be recorded in. {why}")
