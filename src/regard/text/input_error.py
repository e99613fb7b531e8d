"""`InputError`, for invalid input: its message says what was given, where, what was expected and how to fix it."""

from regard.bounds import cut_middle


class InputError(ValueError):
    """The command line prints it as one line and exits with 2; a long message is shortened."""

    def __init__(self, message: str) -> None:
        super().__init__(cut_middle(message))


class FailedElsewhere(RuntimeError):
    """Another worker of a distributed run failed and reported the error; this one only stops."""
