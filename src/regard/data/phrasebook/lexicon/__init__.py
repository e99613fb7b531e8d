"""The words of the phrasebook, as plain data: what can be said in English, and how French and Hindi say it."""
