"""GRU and LSTM cells, forward and backward, for Triton kernels.

torch's own equations (see `models/rnn/cells.py`); inputs and results are float32.
"""

# mypy: ignore-errors
# (Triton's language is not Python: no type checker can check it.)

from typing import no_type_check

import triton
import triton.language as tl

TWO_LOG2_E = tl.constexpr(2.8853900817779268)


@triton.jit
@no_type_check
def tanh(x, APPROXIMATE: tl.constexpr):
    """tanh in one instruction (error 8e-6, less than bfloat16 and float16 round), or exact, from an exponential."""
    if APPROXIMATE:
        return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
    return 1.0 - 2.0 / (1.0 + tl.exp2(x * TWO_LOG2_E))


@triton.jit
@no_type_check
def sigmoid(x):
    return 1.0 / (1.0 + tl.exp2(x * (-0.5 * TWO_LOG2_E)))


@triton.jit
@no_type_check
def gru(x_r, x_z, x_n, u_r, u_z, u_n, s):
    """r, z, n and the new state."""
    r = sigmoid(x_r + u_r)
    z = sigmoid(x_z + u_z)
    n = tanh(x_n + r * u_n, False)
    return r, z, n, n + z * (s - n)


@triton.jit
@no_type_check
def gru_backward(d, r, z, n, u_n, s):
    """Gradients of r's, z's and n's inputs, and what reaches s past the gates; that of u_n is r times n's."""
    d_n = d * (1.0 - z) * (1.0 - n * n)
    return d_n * u_n * r * (1.0 - r), d * (s - n) * z * (1.0 - z), d_n, d * z


@triton.jit
@no_type_check
def lstm(x_i, x_f, x_g, x_o, c):
    """i, f, g, o, the new cell and the new state."""
    i, f, g, o = sigmoid(x_i), sigmoid(x_f), tanh(x_g, False), sigmoid(x_o)
    new = f * c + i * g
    return i, f, g, o, new, o * tanh(new, False)


@triton.jit
@no_type_check
def lstm_backward(d, d_c, i, f, g, o, c, new):
    """Gradients of the four gates' inputs and of the cell before."""
    shown = tanh(new, False)
    d_c += d * o * (1.0 - shown * shown)
    return (
        d_c * g * i * (1.0 - i),
        d_c * c * f * (1.0 - f),
        d_c * i * (1.0 - g * g),
        d * shown * o * (1.0 - o),
        d_c * f,
    )
