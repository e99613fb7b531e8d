"""The course: exercises, the grader, progress. In a notebook: `from regard.course import check`."""

from regard.course.notebook_feedback import check

__all__ = ["check"]
