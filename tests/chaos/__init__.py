"""Fault injection, kills, power loss and fuzzing; benchmarks/chaos.py and benchmarks/fuzz.py run the long versions."""
