"""Optimizer, learning-rate schedule and teacher-forcing schedule of a recipe."""

import math
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from regard.training.train_config import TrainConfig


def build_optimizer(model: nn.Module, config: TrainConfig) -> Optimizer:
    """Adam, AdamW or Adadelta over all parameters; Adam fused where the device has a fused kernel."""
    parameters = list(model.parameters())
    shared: dict[str, Any] = {"lr": config.learning_rate, "weight_decay": config.weight_decay}
    if config.optimizer == "adadelta":
        return torch.optim.Adadelta(parameters, rho=config.rho, eps=config.epsilon or 1e-6, **shared)
    kind = torch.optim.Adam if config.optimizer == "adam" else torch.optim.AdamW
    fused = parameters[0].device.type in ("cpu", "cuda")
    return kind(parameters, betas=config.betas, eps=config.epsilon or 1e-8, fused=fused, **shared)


def learning_rate(config: TrainConfig, step: int, total: int, plateau: int = 0) -> float:
    """The rate for optimizer step `step` (from 1); `plateau` counts how often validation stopped improving.

    warm-up       rate · step / warmup
    cosine        rate · (final + (1 - final)(1 + cos π·progress) / 2)
    inverse-sqrt  rate · √(warmup / step)
    """
    rate = config.learning_rate
    if step <= config.warmup:
        return rate * step / config.warmup
    if config.schedule == "cosine":
        progress = min(1.0, (step - config.warmup) / max(1, total - config.warmup))
        return rate * (config.final_rate + (1 - config.final_rate) * (1 + math.cos(math.pi * progress)) / 2)
    if config.schedule == "inverse-sqrt":
        return rate * math.sqrt(max(1, config.warmup) / step)
    if config.schedule == "plateau":
        return rate * config.plateau_factor**plateau
    return rate


def teacher_forcing(config: TrainConfig, step: int, total: int) -> float:
    """The share of steps that read the true previous word (Bengio et al. 2015, section 2.4).

    With x = progress from 0 to 1 and speed k, the fall f(x) from 1 to 0 is
    linear 1 - x; exponential e^(-kx) stretched to reach 0; inverse sigmoid 1 / (1 + e^(k(2x - 1))) likewise.
    """
    start, end, k = config.teacher_forcing, config.teacher_forcing_end, config.teacher_forcing_speed
    x = min(1.0, (step - 1) / max(1, total - 1))
    match config.teacher_forcing_schedule:
        case "constant":
            return start
        case "linear":
            fall = 1 - x
        case "exponential":
            fall = (math.exp(-k * x) - math.exp(-k)) / (1 - math.exp(-k))
        case "inverse-sigmoid":
            low, high = 1 / (1 + math.exp(k)), 1 / (1 + math.exp(-k))
            fall = (1 / (1 + math.exp(k * (2 * x - 1))) - low) / (high - low)
    return end + (start - end) * fall
