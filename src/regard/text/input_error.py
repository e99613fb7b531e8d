"""`InputError`, for invalid input: its message says what was given, where, what was expected and how to fix it."""

from regard.bounds import cut_middle


class InputError(ValueError):
    """The command line prints it as one line and exits with 2; a long message is shortened.

    `field` is the key of a request that the message is about; the message begins with it.
    """

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(cut_middle(message if field is None else f"{field}: {message}"))
        self.field = field


class FailedElsewhere(RuntimeError):
    """Another worker of a distributed run failed and reported the error; this one only stops."""
