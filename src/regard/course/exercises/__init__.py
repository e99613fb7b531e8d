"""One folder for each exercise; README.md beside this package says what a folder holds."""
