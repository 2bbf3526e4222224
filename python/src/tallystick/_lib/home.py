"""What Tallystick keeps for this user: its folder, and the key for recording."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from .canonical import canonicalize, parse_json
from .ed25519 import Signer, create_signer, generate_secret_key
from .encoding import from_base64url, to_base64url
from .errors import TallyError
from .shape import is_object

_KEY_TYPE = "tally-key-v1"


def tally_home() -> Path:
    """The folder: ``TALLY_HOME``, else ``tallystick`` among the user's configuration.

    A relative ``XDG_CONFIG_HOME`` is ignored, as its standard says.
    """
    home = os.environ.get("TALLY_HOME", "")
    if home:
        return Path(home)
    config = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (config if config.is_absolute() else Path.home() / ".config") / "tallystick"


def own_key() -> Signer:
    """The user's own key for recording, ``recorder.json`` in ``tally_home()``.

    It is made on first use, with mode 0600. Raises ``invalid_secret_key`` for a damaged file.
    """
    path = tally_home() / "recorder.json"
    if not path.exists():
        _make_key(path)
    return create_signer(_read_key(path))


def write_secret(path: Path, text: str) -> None:
    """Writes a new file of mode 0600, down to the disk. Raises ``FileExistsError``."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _make_key(path: Path) -> None:
    """Makes a key file, unless another process has made it meanwhile."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = generate_secret_key()
    key_id = create_signer(secret).key_id
    file = {"type": _KEY_TYPE, "key_id": key_id, "secret": to_base64url(secret)}
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    write_secret(temporary, canonicalize(file) + "\n")
    try:
        # A link never replaces a file, and shows it only whole.
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()


def _read_key(path: Path) -> bytes:
    """The 32-byte secret of a key file."""
    file = parse_json(path.read_bytes())
    secret = file.get("secret") if is_object(file) and file.get("type") == _KEY_TYPE else None
    if is_object(file) and isinstance(secret, str):
        seed = from_base64url(secret, 32)
        if create_signer(seed).key_id == file.get("key_id"):
            return seed
    raise TallyError("invalid_secret_key", f"{path} is not a key file, or was edited.")
