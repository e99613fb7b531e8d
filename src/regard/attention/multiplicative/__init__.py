"""Multiplicative attention: the dot, general and concat scores of Luong, Pham and Manning 2015."""
