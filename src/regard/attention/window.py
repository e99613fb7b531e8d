"""The global window: every step sees every real position. The local ones are in `local/`."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention.protocol import View


class GlobalWindow(nn.Module):
    """All real positions, at every step.

    ```
    real  ■ ■ ■ □      step 0  ■ ■ ■ □
                       step 1  ■ ■ ■ □
    ```
    """

    def forward(
        self, query: Float[Tensor, "batch target query"], real: Bool[Tensor, "batch source"], position: int = 0
    ) -> View:
        batch, source = real.shape
        return View(real[:, None, None, :].expand(batch, 1, query.shape[1], source))
