"""The machine that figures were measured on: processor or GPU, versions, date, load."""

import os
import platform
import time
from pathlib import Path

import torch

from regard.data.worker_pool import count_cores


def describe_machine(device: torch.device, *notes: str) -> dict[str, str]:
    """The machine in words and the date; the load is the average of the last minute."""
    if device.type == "cuda":
        parts = [torch.cuda.get_device_name(device)]
    else:
        threads = torch.get_num_threads()
        parts = [_processor(), "one thread" if threads == 1 else f"{threads} threads"]
    parts.append(f"torch {torch.__version__}")
    if hasattr(os, "getloadavg"):
        parts.append(f"load {os.getloadavg()[0]:.1f}")
    return {"machine": ", ".join([*parts, *notes]), "date": time.strftime("%Y-%m-%d")}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def default_jobs(device: str) -> int:
    """One run for each core; one run at a time on a GPU."""
    on_gpu = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
    return 1 if on_gpu else count_cores()
