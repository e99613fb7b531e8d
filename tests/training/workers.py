"""Scenes with several workers, each a forked process that talks to the others over gloo, as torchrun's would.

Run as a program with a folder; every scene asserts what must hold, and says its name when it does.
"""
# ruff: noqa: E402  # annotations are checked here too, by a hook that must be there before what it watches

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import shape_checks

shape_checks.install()

import torch
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

from regard.models.model_config import TransformerConfig
from regard.plot import Series, curves, save
from regard.text.input_error import FailedElsewhere, InputError
from regard.training import optimizer_step, run, training_loop, world
from regard.training.journal import Event, Stepped, read_journal
from regard.training.loss import Losses
from regard.training.recipe import Recipe
from regard.training.run import Result, train
from training.tiny import equal, tiny, weights

FINISHED, BROKEN = 0, 9


def start(size: int, work: Callable[[int], Any]) -> list[int]:
    """The exit status of each of so many workers; `work` gets the rank and returns a status, or nothing."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    children = []
    for rank in range(size):
        child = os.fork()
        if child == 0:
            os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1"}
            os.environ |= {"MASTER_PORT": str(port), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size)}
            status = BROKEN
            try:
                status = work(rank) or FINISHED
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def run_all(size: int, recipe: Recipe, folder: Path, **options: Any) -> None:
    """Every worker trains to the end."""
    found = start(size, lambda rank: ending(train(recipe, folder, trust=["training.idle:Idle"], **options)))
    assert found == [FINISHED] * size, f"{folder.name}: {found}"


def ending(result: Result) -> int:
    return {"steps": FINISHED, "early": FINISHED, "interrupted": 130}[result.reason]


def entries(folder: Path, kind: str, *keys: str) -> list[tuple[Any, ...]]:
    found = [entry for entry in read_journal(folder / "journal.jsonl") if entry["event"] == kind]
    return [tuple(entry[key] for key in keys) for entry in found]


def same_curve(one: Path, other: Path) -> None:
    """Losses, gradient norms, scores and weights agree but for the last digits of float32."""
    lines = {"step": ("step", "epoch", "loss", "rate", "gradient_norm"), "validated": ("step", "loss", "score")}
    for kind, keys in lines.items():
        left, right = (torch.tensor(entries(folder, kind, *keys), dtype=torch.float64) for folder in (one, other))
        torch.testing.assert_close(left, right, rtol=2e-5, atol=1e-6, msg=f"{kind} of {one.name} and {other.name}")
    assert entries(one, "validated", "best", "sample") == entries(other, "validated", "best", "sample")
    for name in ("last", "best"):
        left_weights, right_weights = weights(one, name), weights(other, name)
        assert left_weights.keys() == right_weights.keys()
        for key, value in left_weights.items():
            torch.testing.assert_close(value, right_weights[key], rtol=1e-4, atol=1e-5, msg=f"{name} {key}")


PLAIN = {
    # 43 pairs are six batches of 7 and one of 1: two of three workers have no row in it.
    "data": {"train": 43, "dev": 105},
    "train": {
        "steps": 14, "batch_sentences": 7, "validate_every": 5, "accumulate": 1, "teacher_forcing": 0.5, "average": 2,
        "label_smoothing": 0.1,
    },
}  # fmt: skip


def plain(**train_keys: Any) -> Recipe:
    return tiny(data=PLAIN["data"], train={**PLAIN["train"], **train_keys})


def transformer(recipe: Recipe) -> Recipe:
    size = {"width": 8, "heads": 2, "feedforward": 16, "encoder_layers": 1, "decoder_layers": 1, "dropout": 0.0}
    return recipe.model_copy(update={"model": TransformerConfig(**size)})


def scene_any_number_of_workers_gives_the_same_curve(root: Path) -> None:
    for name, recipe, sizes in (
        ("plain", plain(), (2, 3)),
        ("accumulated", plain(accumulate=3, metric="loss"), (2,)),
        ("transformer", transformer(plain(teacher_forcing=1.0, average=0, coverage=0.1)), (2,)),
        ("idle", tiny(model={"score": "training.idle:Idle"}, train={"optimizer": "adamw", "weight_decay": 0.1}), (2,)),
    ):
        for size in (1, *sizes):
            run_all(size, recipe, root / f"{name} {size}")
        for size in sizes:
            same_curve(root / f"{name} 1", root / f"{name} {size}")
            assert entries(root / f"{name} {size}", "started", "workers") == [(size,)]
            alone, several = (sorted(os.listdir(root / f"{name} {number}")) for number in (1, size))
            assert alone == several


def interrupt_at(number: int) -> Callable[[Event], None]:
    def listener(event: Event) -> None:
        if isinstance(event, Stepped) and event.step == number:
            os.kill(os.getpid(), signal.SIGTERM)

    return listener


def scene_one_interrupted_worker_stops_all_and_the_run_goes_on_to_the_same_bits(root: Path) -> None:
    recipe = tiny(model={"dropout": 0.2}, train={"teacher_forcing": 0.5, "steps": 11})
    run_all(2, recipe, root / "whole")
    stopped = start(2, lambda rank: ending(train(recipe, root / "run", listener=interrupt_at(4))))
    assert stopped == [130, 130], stopped
    assert entries(root / "run", "finished", "step", "reason") == [(4, "interrupted")]
    run_all(2, recipe, root / "run", resume=True)
    assert equal(weights(root / "run"), weights(root / "whole"))
    assert entries(root / "run", "step", "step", "loss") == entries(root / "whole", "step", "step", "loss")
    other = weights(root / "whole")
    run_all(1, recipe, root / "one")
    assert not equal(weights(root / "one"), other), "dropout differs between workers"


def _until(at: int, folder: Path, resume: bool, rank: int) -> int:
    return ending(train(plain(), folder, resume=resume, listener=interrupt_at(at)))


def scene_a_run_goes_on_with_another_number_of_workers(root: Path) -> None:
    run_all(1, plain(), root / "whole")
    for sizes in ((1, 2, 3), (3, 1)):
        folder = root / f"{sizes}"
        for at, size in zip((4, 9), sizes, strict=False):
            start(size, partial(_until, at, folder, folder.exists()))
        run_all(sizes[-1], plain(), folder, resume=True)
        same_curve(root / "whole", folder)
        assert [workers for (workers,) in entries(folder, "started", "workers")][: len(sizes)] == list(sizes)


def die_at(number: int, how: Callable[[], None]) -> None:
    """This worker is gone in the middle of a step."""
    calls, real = 0, optimizer_step.batch_loss

    def loss(*given: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2 + number:  # the dry run calls it twice: for the size and for the time
            how()
        return real(*given, **options)

    optimizer_step.batch_loss = loss


def caught(kind: type[Exception], text: str, recipe: Recipe, folder: Path, **options: Any) -> int:
    """3 where training ends with this error."""
    try:
        train(recipe, folder, **options)
    except kind as error:
        if text in str(error):
            return 3
        sys.stderr.write(f"{error}\n")
    return BROKEN


def scene_a_killed_worker_ends_the_run_which_goes_on(root: Path) -> None:
    recipe = tiny(model={"dropout": 0.2}, train={"steps": 11, "checkpoint_every": 3})
    run_all(2, recipe, root / "whole")
    for victim in (0, 1):
        folder = root / f"run {victim}"

        def work(rank: int, victim: int = victim, folder: Path = folder) -> int:
            if rank == victim:
                die_at(8, lambda: os.kill(os.getpid(), signal.SIGKILL))
            return caught(
                world.WorkerLost,
                "lost the connection to another worker, so the run ends here (Connection",
                recipe,
                folder,
            )

        found = start(2, work)
        assert sorted(found) == [-9, 3], found
        assert len(entries(folder, "step", "step")) == 7
        run_all(2, recipe, folder, resume=True)
        assert equal(weights(folder), weights(root / "whole"))
        assert entries(folder, "step", "step", "loss") == entries(root / "whole", "step", "step", "loss")


def scene_memory_that_runs_out_between_workers_is_reported(root: Path) -> None:
    recipe = tiny(train={"steps": 8, "accumulate": 2})

    def fail() -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    for at, wanted in ((3, [0, 0]), (4, [3, 3])):  # in the first batch of a step, and in its last

        def work(rank: int, at: int = at) -> int:
            if rank == 1:
                die_at(at, fail)
                kind = optimizer_step.OutOfMemory
                text = "while workers wait for each other: resume with --resume and more workers"
            else:
                kind, text = world.WorkerLost, "lost the connection"
            if at == 4:
                return caught(kind, text, recipe, root / "late")
            return ending(train(recipe, root / "early"))

        found = start(2, work)
        assert found == wanted, found
    run_all(1, recipe, root / "one")
    same_curve(root / "one", root / "early")


def scene_a_run_without_hope_ends_everywhere_and_is_reported_once(root: Path) -> None:
    recipe = tiny(train={"steps": 40, "checkpoint_every": 4, "validate_every": 40})
    real = optimizer_step.batch_loss

    def spoiled(model: Any, batch: Any, **options: Any) -> Any:
        """Where one worker's loss is no number, no worker can use the step."""
        found = real(model, batch, **options)
        return Losses(found.objective * float("nan"), found.log_loss) if world.find_world().rank else found

    def work(rank: int) -> int:
        optimizer_step.batch_loss = spoiled
        if rank:
            return caught(FailedElsewhere, "", recipe, root / "run")
        return caught(training_loop.Diverged, "no finite gradient in 20 steps up to step 20", recipe, root / "run")

    assert start(2, work) == [3, 3]
    assert len(entries(root / "run", "warning", "message")) == 1


def scene_gradients_travel_once_for_each_step(root: Path) -> None:
    sent = 0

    def counting(state, bucket):  # type: ignore[no-untyped-def]  # annotations would have to be torch's own
        nonlocal sent
        sent += 1
        return allreduce_hook(None, bucket)

    class Counted(world.Replica):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            assert self.parallel is not None
            self.parallel.register_comm_hook(None, counting)

    def work(rank: int) -> int:
        run.Replica = Counted
        result = train(tiny(train={"steps": None, "epochs": 2, "accumulate": 3}), root / "run")
        assert result.progress.step == 4, "48 pairs are 6 batches, 2 steps"
        assert sent == 4, f"{sent} messages"
        return FINISHED

    assert start(2, work) == [FINISHED, FINISHED]


def scene_what_is_wrong_is_reported_by_one_worker_and_nothing_is_written(root: Path) -> None:
    def other_data(rank: int) -> int:
        recipe = tiny(data={"seed": rank}, train={"learning_rate": 0.1 + rank})
        text = "not the same as on worker 0: recipe, vocabularies, training pairs, development pairs; give every"
        return caught(InputError if rank == 1 else FailedElsewhere, text if rank == 1 else "", recipe, root / "run")

    assert start(2, other_data) == [3, 3]

    def wrong_everywhere(rank: int) -> int:
        kind, text = (InputError, "nothing to resume in") if rank == 0 else (FailedElsewhere, "worker 0 of 3 reported")
        return caught(kind, text, tiny(), root / "run", resume=True)

    assert start(3, wrong_everywhere) == [3, 3, 3]

    def wrong_in_one_place(rank: int) -> int:
        keys = {"start_from": str(root / "nowhere")} if rank == 2 else {}
        text = f"worker 2 of 3 on {socket.gethostname()}: no bundle at" if rank == 2 else "worker 2 of 3 reported"
        return caught(InputError if rank == 2 else FailedElsewhere, text, tiny(train=keys), root / "run")

    assert start(3, wrong_in_one_place) == [3, 3, 3]
    assert not (root / "run").exists()


def main(root: Path) -> None:
    torch.use_deterministic_algorithms(True)
    root.mkdir()
    # What takes long to import is imported once, not in every process.
    save(curves(Series.of("loss", [1, 2], [2.0, 1.0])), root / "warm.png")
    for name, scene in list(globals().items()):
        if name.startswith("scene_"):
            folder = root / name
            folder.mkdir(parents=True)
            scene(folder)
            sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
