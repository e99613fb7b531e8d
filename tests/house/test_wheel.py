"""What `pip install .` brings along: everything the command needs is in the wheel."""

import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    assert Path(wheel).stat().st_size < 50e6
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_everything_in_the_package_is_in_the_wheel(contents: set[str]) -> None:
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "regard").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert not wanted - contents
    assert "regard/py.typed" in contents
    assert "regard/recipes/demo.toml" in contents
    assert {f"regard/pretrained/demo-en-fr/{name}" for name in ("card.toml", "model.safetensors")} <= contents
    assert {"regard/plot/typefaces/devanagari.ttf", "regard/plot/typefaces/OFL.txt"} <= contents


def test_the_wheel_holds_nothing_else(contents: set[str]) -> None:
    assert not [name for name in contents if not name.startswith(("regard/", "regard-"))]
