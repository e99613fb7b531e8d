"""Watch mode: the current exercise on the screen, graded at every save."""

from regard.course.watch.watch_loop import watch

__all__ = ["watch"]
