"""The optimizer a recipe asks for."""

import torch
from torch import nn
from torch.optim import Optimizer

from regard.training.config import TrainConfig


def build_optimizer(model: nn.Module, config: TrainConfig) -> Optimizer:
    """Adam, AdamW or Adadelta over all parameters; Adam fused where the device has a fused kernel."""
    parameters = list(model.parameters())
    if config.optimizer == "adadelta":
        return torch.optim.Adadelta(
            parameters,
            lr=config.learning_rate,
            rho=config.rho,
            eps=config.epsilon or 1e-6,
            weight_decay=config.weight_decay,
        )
    kind = torch.optim.Adam if config.optimizer == "adam" else torch.optim.AdamW
    return kind(
        parameters,
        lr=config.learning_rate,
        betas=config.betas,
        eps=config.epsilon or 1e-8,
        weight_decay=config.weight_decay,
        fused=parameters[0].device.type in ("cpu", "cuda"),
    )


def set_learning_rate(optimizer: Optimizer, rate: float) -> None:
    """Whatever the schedule says for this step."""
    for group in optimizer.param_groups:
        group["lr"] = rate
