"""Additive attention in Triton kernels that hold nothing of size target × source × width."""
