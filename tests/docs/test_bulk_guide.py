"""The programs in the guide "A billion sentences" run unchanged."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from processes import completed

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "bulk.md"
PROGRAMS = dict(
    zip(
        ("datasets", "pyspark"),
        re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S),
        strict=True,
    )
)


@pytest.mark.long
@pytest.mark.parametrize("library", PROGRAMS)
def test_the_program_translates(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    if library == "pyspark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    (tmp_path / "program.py").write_text(PROGRAMS[library], encoding="utf-8")
    caches = {"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1", "PYSPARK_PYTHON": sys.executable}
    done = completed([sys.executable, tmp_path / "program.py"], cwd=tmp_path, environment=caches, seconds=400)
    assert done.returncode == 0, done.stderr
    assert "['le chat noir était assis sur le tapis', 'elle dort']" in done.stdout
