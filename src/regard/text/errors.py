"""The error for input that a person can mend: it says what was given, where, what was wanted and how to mend it."""


class InputError(ValueError):
    """The command line prints it as one line and exits with 2."""
