"""No attention: the fixed-vector baseline."""
