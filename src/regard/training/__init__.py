"""Training: recipes, the loop, checkpoints, resume and the journal.

Example:
    regard.train("reverse", "runs/reverse", overrides=["train.epochs=2"])
    regard.load("runs/reverse").translate("9 8 7").text
"""
