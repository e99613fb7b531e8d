"""No attention: the fixed-vector baseline. `module.NoAttention` is what a model uses."""
