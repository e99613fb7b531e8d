"""What a folder that cannot be loaded as a bundle raises."""

from regard.text.errors import InputError


class BundleError(InputError):
    """The message says which file of which folder is wrong, and what to do."""
