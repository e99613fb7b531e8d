"""The course: exercises that teach attention by writing it, a grader that says which mistake was made, progress."""
