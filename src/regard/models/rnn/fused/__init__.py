"""Recurrences on a GPU: Triton kernels for what surrounds the products of a step, and CUDA graphs that replay them."""
