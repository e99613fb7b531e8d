"""Whether the kernels run, and what `train` must know of precision; it knows attention through models alone."""

from torch import Tensor

from regard.attention.additive.launch import DTYPES, kernels_run_on
from regard.attention.once import once as once
from regard.attention.plain import plain_wanted as plain_wanted
from regard.attention.precision import working_dtype as working_dtype


def fusible(tensor: Tensor) -> bool:
    """Whether the kernels run where this tensor is, and in the precision of its products."""
    return kernels_run_on(tensor.device.type) and working_dtype(tensor) in DTYPES
