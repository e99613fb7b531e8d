"""Beam search whose choices stay on the device."""
