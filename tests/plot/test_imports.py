"""Importing the pictures costs nothing: matplotlib and rich are loaded when something is drawn."""

import subprocess
import sys


def test_neither_matplotlib_nor_rich_is_imported_before_something_is_drawn() -> None:
    code = "import sys, regard.plot; print(sorted({'matplotlib', 'rich', 'torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_drawing_starts_no_window_system() -> None:
    code = (
        "import sys, numpy; from regard.plot import *;"
        "picture(heatmap(AttentionMap(numpy.eye(2), 'a b', 'c d'))); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
