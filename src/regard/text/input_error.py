"""The error for input that a person can mend: it says what was given, where, what was wanted and how to mend it."""

from regard.bounds import cut_middle


class InputError(ValueError):
    """The command line prints it as one line and exits with 2; whatever it quotes, it stays short."""

    def __init__(self, message: str) -> None:
        super().__init__(cut_middle(message))


class FailedElsewhere(RuntimeError):
    """Another worker of a distributed run failed and reported the error; this one only stops."""
