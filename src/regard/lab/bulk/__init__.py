"""Corpora of any size: files are cut into parts, an engine translates the parts, finished parts are not redone."""
