"""`regard compare`: variants of one recipe, trained with the same budget and several seeds, and compared."""
