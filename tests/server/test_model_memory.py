"""Models of the runs folder are loaded on demand, and forgotten when others are used: memory stays bounded."""

import gc
import shutil
import weakref
from pathlib import Path

from regard.server.schema.translating import TranslateRequest
from regard.server.served_models import MOST_LOADED, Catalogue
from regard.server.settings import Settings
from runtime.bundles import untrained

from .conftest import running


def many(tmp_path: Path, count: int) -> Path:
    first = untrained(tmp_path / "runs" / "run-00" / "best")
    for number in range(1, count):
        shutil.copytree(first, tmp_path / "runs" / f"run-{number:02}" / "best")
    return tmp_path / "runs"


def test_the_least_recently_used_models_are_forgotten(tmp_path: Path) -> None:
    named = untrained(tmp_path / "named")
    catalogue = Catalogue(Settings(bundles=(named,), studio=True, runs=many(tmp_path, MOST_LOADED + 2)))
    ids = [entry.id for entry in catalogue.entries() if entry.origin == "run"]
    models = {name: weakref.ref(catalogue.get(name).translator) for name in ["named", *ids[:MOST_LOADED]]}
    catalogue.get(ids[0])  # used again
    for name in ids[MOST_LOADED:]:
        models[name] = weakref.ref(catalogue.get(name).translator)
    gc.collect()
    alive = {name for name, model in models.items() if model() is not None}
    assert alive == {"named", ids[0], *ids[3:]}, "those of the command line stay"


def test_answers_of_a_forgotten_model_do_not_keep_it_in_memory(tmp_path: Path) -> None:
    runs = many(tmp_path, MOST_LOADED + 3)
    with running(Settings(studio=True, runs=runs)) as (client, service, _):
        names = sorted(path.name for path in runs.iterdir())
        models = []
        for name in names:
            body = TranslateRequest(model=name, text="a b").model_dump(include={"model", "text"})
            assert client.post("/api/v1/step", json=body).status_code == 200
            assert client.post("/api/v1/translate", json=body).status_code == 200
            models.append(weakref.ref(service.catalogue.get(name).translator))
        gc.collect()
        assert sum(model() is not None for model in models) <= MOST_LOADED + 1  # one may still be decoding
        assert client.post("/api/v1/step", json={"model": names[0], "text": "a b"}).status_code == 200
