"""What a comparison ran on, in words: figures of speed mean nothing without it."""

import os
import platform
import time

import torch


def describe_machine(jobs: int) -> dict[str, str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{cores} cores {platform.machine()}"
    side = "one run at a time" if jobs == 1 else f"{jobs} runs side by side"
    return {"machine": f"{device}, torch {torch.__version__}, {side}", "date": time.strftime("%Y-%m-%d")}


def default_jobs(device: str) -> int:
    """A run for each core; one where they would share a GPU."""
    if device.startswith("cuda") or (device == "auto" and torch.cuda.is_available()):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
