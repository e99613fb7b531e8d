"""A course of files that misbehave, and the means to grade them."""

from pathlib import Path
from textwrap import dedent

import pytest

from regard.course.catalogue import Entry, find


@pytest.fixture
def softmax_entry() -> Entry:
    return find("softmax")


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Write a learner's file and give its path."""

    def writer(text: str, name: str = "exercise.py") -> Path:
        path = tmp_path / name
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return writer
