"""Exercise 19: encoder, attention, decoder and greedy decoding, put together."""
