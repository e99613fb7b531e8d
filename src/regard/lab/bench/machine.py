"""What figures were taken on: processor, versions, date, and how busy the machine was."""

import os
import platform
import time
from pathlib import Path

import torch


def describe(device: torch.device) -> dict[str, str]:
    """In words; the load is that of the minute before."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else _processor()
    threads = "" if device.type == "cuda" else f", {_count(torch.get_num_threads())}"
    busy = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return {
        "machine": f"{name}{threads}, torch {torch.__version__}{busy}",
        "date": time.strftime("%Y-%m-%d"),
    }


def _count(threads: int) -> str:
    return "one thread" if threads == 1 else f"{threads} threads"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
