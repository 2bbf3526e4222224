"""The wheel and the sdist: built, installed in an empty environment, used and checked there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from support import NODE, ROOT, with_node

PACKAGE = ROOT / "python"
PROGRAM = PACKAGE / "tests" / "user_program.py"
PYRIGHT = ROOT / "node_modules" / "pyright" / "index.js"


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints. The test fails with all that it said where it does not end with 0."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path) -> dict[str, Path]:
    """Builds a copy of the sources in a folder of their own; the files by their kind."""
    ignored = shutil.ignore_patterns(".*", "__pycache__")
    source = shutil.copytree(PACKAGE, folder / "source", ignore=ignored)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", cwd=source)
    return {path.suffix: path for path in (folder / "dist").iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("build"))


def test_two_builds_give_the_same_bytes(
    built: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    mask = os.umask(0o077)
    try:
        again = build(tmp_path / "elsewhere")
    finally:
        os.umask(mask)
    assert set(built) == {".whl", ".gz"}
    for suffix, path in built.items():
        assert digest(again[suffix]) == digest(path), path.name


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module", params=[".whl", ".gz"])
def python(
    request: pytest.FixtureRequest,
    built: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The interpreter of an environment that has nothing but the package."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    interpreter = folder / "bin" / "python"
    quietly = ("--quiet", "--disable-pip-version-check")
    run(interpreter, "-m", "pip", "install", *quietly, built[request.param], cwd=folder)
    return interpreter


def test_a_users_program_runs(python: Path, tmp_path: Path) -> None:
    assert run(python, PROGRAM, cwd=tmp_path) == "25 True False True True\n"


def test_the_namespace_has_what_is_public_and_nothing_else(python: Path, tmp_path: Path) -> None:
    script = """
import tallystick
public = {name for name in dir(tallystick) if not name.startswith("_")}
print(public ^ set(tallystick.__all__) or "the same")
"""
    assert run(python, "-c", script, cwd=tmp_path) == "the same\n"


def test_the_metadata_says_what_an_index_shows(python: Path, tmp_path: Path) -> None:
    script = """
from importlib.metadata import files, metadata
shown = metadata("tallystick")
print(*shown.get_all("Project-URL"), *shown.get_all("Classifier"), sep="\\n")
print(shown["License-Expression"], shown["License-File"], "# tallystick" in shown.get_payload())
print(*(file for file in files("tallystick") if "test" in str(file) or file.name == "py.typed"))
"""
    shown = run(python, "-c", script, cwd=tmp_path)
    for name in ("Homepage", "Source", "Issues", "Changelog"):
        assert f"{name}, https://" in shown
    for minor in range(10, 15):
        assert f"Programming Language :: Python :: 3.{minor}\n" in shown
    assert shown.endswith("Apache-2.0 LICENSE True\ntallystick/py.typed\n")


def test_the_addresses_are_those_of_the_other_packages() -> None:
    shared = json.loads((ROOT / "package.json").read_text())
    ours = (PACKAGE / "pyproject.toml").read_text()
    source = shared["repository"]["url"].removeprefix("git+").removesuffix(".git")
    assert f'Homepage = "{shared["homepage"]}"\n' in ours
    assert f'Issues = "{shared["bugs"]}"\n' in ours
    assert f'Source = "{source}"\n' in ours
    assert f'Changelog = "{source}/' in ours
    assert (PACKAGE / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_mypy_needs_no_cast(python: Path, tmp_path: Path) -> None:
    program = shutil.copy(PROGRAM, tmp_path)
    mypy = (sys.executable, "-m", "mypy", "--strict", "--python-executable", python)
    run(*mypy, program, cwd=tmp_path)


@with_node
def test_pyright_needs_no_cast(python: Path, tmp_path: Path) -> None:
    shutil.copy(PROGRAM, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    run(NODE, PYRIGHT, "--pythonpath", python, cwd=tmp_path)
