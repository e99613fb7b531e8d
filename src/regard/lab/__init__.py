"""What combines the parts: demo, evaluation, worked examples and the doctor, as plain functions."""
