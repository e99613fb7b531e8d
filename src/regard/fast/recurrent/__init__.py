"""Recurrent encoders and decoders with hand-written gradients: Triton kernels on a GPU, few operations on a CPU."""
