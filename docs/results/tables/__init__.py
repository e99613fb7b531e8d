"""The tables of the results, by topic; make_tables.py beside this folder writes them into the pages."""
