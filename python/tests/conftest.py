"""One service for the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from support import api_key, serve

# How long an example takes says something of the machine only.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the service has its data."""
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="session")
def service(data_dir: Path) -> Iterator[str]:
    """The URL of a real service."""
    yield from serve(data_dir)


@pytest.fixture(scope="session")
def pro_key(data_dir: Path, service: str) -> str:  # noqa: ARG001
    """An API key of the service, of the tier Pro."""
    return api_key(data_dir, "pro")
