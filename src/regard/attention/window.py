"""The global window: every step sees every real position. The local ones are in `local/`."""

from torch import nn

from regard.attention.protocol import Query, Real, View


class GlobalWindow(nn.Module):
    """All real positions, at every step.

    ```
    real  ■ ■ ■ □      step 0  ■ ■ ■ □
                       step 1  ■ ■ ■ □
    ```
    """

    def forward(self, query: Query, real: Real, position: int = 0) -> View:
        batch, source = real.shape
        return View(real[:, None, None, :].expand(batch, 1, query.shape[1], source))
