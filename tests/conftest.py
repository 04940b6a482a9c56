"""Fixtures for all tests: reproducible hypothesis runs and a registry of one's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from theorylab.claims import Registry, registry

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """An empty registry and no chapters of the book; both are restored afterwards.

    A chapter that the test imports is forgotten, so that its claims are registered again when
    the next test asks for it.
    """
    claims_module = sys.modules["theorylab.claims"]
    monkeypatch.setattr(registry, "_claims", {})
    monkeypatch.setattr(claims_module, "_own_chapters", dict)
    before = set(sys.modules)
    yield registry
    for name in set(sys.modules) - before:
        if name.split(".")[0] == "toy_chapters":
            del sys.modules[name]
