"""Multiplicative attention: Luong, Pham and Manning 2015. `module.LuongDot`, `LuongGeneral`, `LuongConcat`."""
