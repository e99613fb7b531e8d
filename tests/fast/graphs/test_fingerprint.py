"""The torch settings in the cache key of captured graphs."""

import pytest
import torch

from regard.fast.graphs.fingerprint import settings


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


@pytest.mark.skipif(not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="torch has one way to say it")
def test_precision_set_by_torchs_new_api_is_a_setting() -> None:
    """After the new API was used, torch raises if the old one reads the precision."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    here, exact = settings(), torch.backends.cuda.matmul.fp32_precision
    try:
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        assert settings() == settings()
        assert settings() != here
        torch.backends.cuda.matmul.fp32_precision = exact
        assert settings() == here
    finally:
        torch.backends.cuda.matmul.fp32_precision = exact
        torch.set_float32_matmul_precision(before)
