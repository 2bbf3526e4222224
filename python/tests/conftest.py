"""One service for the whole run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import serve


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real service."""
    yield from serve(tmp_path_factory.mktemp("service"))
