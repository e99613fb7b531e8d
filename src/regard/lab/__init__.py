"""Functions that combine the parts: demo, alignment, evaluation, comparison, worked examples and the doctor."""
