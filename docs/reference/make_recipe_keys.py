"""Writes recipe-keys.md beside this file: every recipe key, from the models that check recipes."""

from pathlib import Path

from regard.training.recipe_keys import page_of_keys

if __name__ == "__main__":
    Path(__file__).with_name("recipe-keys.md").write_text(page_of_keys(), encoding="utf-8")
