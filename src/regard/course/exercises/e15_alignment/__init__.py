"""Exercise 15: word links out of attention, their error rate, and BLEU by length."""
