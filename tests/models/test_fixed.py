"""What a recording depends on beside its shapes: torch's own settings."""

import torch

from regard.models.fixed import settings


def test_precision_and_inference_are_settings() -> None:
    before = torch.get_float32_matmul_precision()
    here = settings()
    assert here == settings()
    with torch.inference_mode():
        assert settings() != here, "its tensors cannot be written to elsewhere"
    try:
        torch.set_float32_matmul_precision("highest" if before != "highest" else "high")
        assert settings() != here
    finally:
        torch.set_float32_matmul_precision(before)
