"""What the exceptions of Python itself mean for the one who wrote the line: types, names, indices, memory."""

import re
from collections.abc import Callable

Explain = Callable[["re.Match[str]"], str]

PYTHON_ERRORS: tuple[tuple[type[BaseException], str, str | Explain], ...] = (
    (
        TypeError,
        r"only (integer|length-1|0-dim)|can only be converted|cannot be interpreted as an integer",
        "An array stands where one number is needed: math.exp and float() take one number, np.exp takes whole arrays.",
    ),
    (
        TypeError,
        r"bad operand type for unary ~|~ \(operator\.invert\)|bitwise_not|ufunc 'invert'",
        "~ turns a mask of dtype bool round; numbers are compared first, for instance mask == 0.",
    ),
    (
        TypeError,
        r"object of type '.*' has no len\(\)",
        "This argument is an iterable without a length (a generator, read once): loop over it with `for` or enumerate, "
        "without len() and without indices.",
    ),
    (
        TypeError,
        r"object is not subscriptable",
        "An index [...] into something that has no entries: an iterator is read with `for`, a number is just one.",
    ),
    (
        TypeError,
        r"'NoneType' object",
        "Something is None: a function without `return`, or a method that changes its list in place (sort, append).",
    ),
    (TypeError, r"unhashable", "Lists cannot be members of a set or keys of a dict: use tuples."),
    (
        TypeError,
        r"not iterable|cannot unpack non-iterable",
        "A single value stands where a list or a tuple is looped over or taken apart.",
    ),
    (
        TypeError,
        r"(not supported between instances|unsupported operand).*NoneType",
        "One of the values is None: a function without `return`, or a value that is missing on purpose and must "
        "be left out first (`is not None`).",
    ),
    (
        TypeError,
        r"unsupported operand type\(s\) for .*'(list|tuple|set|dict)'",
        lambda found: (
            f"Python does not calculate with a {found[1]}: make an array or a tensor of it first "
            "(np.array, torch.stack), or loop over its entries."
        ),
    ),
    (
        TypeError,
        r"not supported between instances|unsupported operand",
        "Two values of different types are combined here.",
    ),
    (
        TypeError,
        r"must be Tensor, not (\w+\.)?(\w+)|expected Tensor as element .* got (\w+)",
        "A function of torch gets something that is not a tensor. NumPy arrays go with NumPy's functions (np.exp, "
        "np.max); lists become tensors with torch.tensor or torch.stack.",
    ),
    (
        TypeError,
        r"indices must be integers|list indices|tuple indices|slice indices must be",
        "The index is not a whole number: a float, a tuple (x[i, j] works on arrays, not on lists) or an array. "
        "Convert it with int(), or index a list step by step, x[i][j].",
    ),
    (
        TypeError,
        r"missing \d+ required positional argument|takes \d+ positional arguments? but|multiple values for argument|"
        r"unexpected keyword argument '(?!keepdim|axis|dim)",
        "A function is called with another number of arguments than it takes, or with a name that it does not know: "
        "compare the call with its `def`.",
    ),
    (
        TypeError,
        r"object is not callable",
        "Something that is no function is called with (…): a missing operator before a parenthesis, [ ] meant instead "
        "of ( ), or a variable that has the name of a function.",
    ),
    (
        TypeError,
        r"can't multiply sequence|can only concatenate|must be str, not|must be real number",
        "A list or a text stands where a number or an array is needed.",
    ),
    (
        AttributeError,
        r"module '(torch|numpy|math)\S*' has no attribute '(\w+)'",
        lambda found: (
            f"{found[1]} has no function {found[2]}: a typing error, or the function of another library "
            "(NumPy and torch differ: np.concatenate and torch.cat, np.exp and math.exp). A softmax that the file "
            "defines is called by its bare name."
        ),
    ),
    (
        AssertionError,
        r"",
        "An `assert` of the file or of a layer does not hold: the line says which.",
    ),
    (OverflowError, r"", "A number is too large: subtract the maximum before exp()."),
    (
        StopIteration,
        r"",
        "next() was called once more than there are entries.",
    ),
    (
        TypeError,
        r"unexpected keyword argument '(keepdims?|axis|dim)'",
        "NumPy's functions say axis and keepdims, torch's say dim and keepdim.",
    ),
    (
        AttributeError,
        r"'numpy\.ndarray' object has no attribute '(\w+)'",
        lambda found: (
            f"A NumPy array has no method {found[1]}: call a function, for instance {found[1]}(scores) or "
            f"np.{found[1]}(…); softmax(scores) stands above in your file where an exercise needs it."
        ),
    ),
    (
        AttributeError,
        r"'(torch\.return_types\.\w+|Tensor|tuple|list|set|dict|str|int|float|NoneType|GRU|GRUCell)' object "
        r"has no attribute '(\w+)'",
        lambda found: (
            f"A {found[1]} has no {found[2]}: is this value what you think? A call may return a tuple (take "
            f"it apart), and NumPy's methods are not all torch's."
        ),
    ),
    (
        IndexError,
        r"index (-?\d+) is out of bounds for (?:axis|dimension) (\d+) with size (\d+)",
        lambda found: (
            f"Index {found[1]} at axis {found[2]}, which has {found[3]} entries (0 to {int(found[3]) - 1}): off "
            f"by one, a loop that goes one too far, or a position t + 1 after the last one?"
        ),
    ),
    (
        IndexError,
        r"list index out of range|tuple index out of range|string index out of range",
        "An index beyond the end: a loop that goes one too far (t + 1 after the last word), or positions that were "
        "counted along another axis than the one they are used for (argmax over the wrong axis)?",
    ),
    (IndexError, r"too many indices", "More indices than the array has axes: an axis was lost before this line."),
    (
        IndexError,
        r"boolean index did not match|shape of the mask",
        "The mask has another shape than what it is to select from.",
    ),
    (
        IndexError,
        r"index out of range in self",
        "A word id that the table does not have: ids run from 0 to its size − 1.",
    ),
    (KeyError, r"", "A dict has no such key: use .get(), or check what its keys are."),
    (
        NameError,
        r"(?:name|local variable|variable) '(\w+)'",
        lambda found: (
            f"`{found[1]}` has no value yet at this line: a typing error, a missing import, or a variable "
            f"that is set only in another branch or later."
        ),
    ),
    (ImportError, r"", "This module cannot be imported here: the exercise needs only what its starter imports."),
    (
        MemoryError,
        r"",
        "There is not so much memory: an array is far larger than the inputs. Is a size a product where it should be a "
        "sum, or an id where it should be a count?",
    ),
    (
        RecursionError,
        r"",
        "The function calls itself without end: a helper of the same name hides another function, or the call that "
        "should end it is missing.",
    ),
    (ZeroDivisionError, r"", "A division by 0: an empty list or set has to be treated by itself."),
    (
        IndexError,
        r"Dimension out of range",
        "There is no such axis: the tensor has fewer of them here; -1 is the last.",
    ),
    (
        IndexError,
        r"Target (-?\d+) is out of bounds",
        "A target is no id of the vocabulary: are logits and targets swapped, or is the vocabulary not the axis that "
        "cross_entropy takes for it?",
    ),
    (IndexError, r"tensors used as indices", "An index must be a whole number or a mask of dtype bool: .long()."),
    (
        TypeError,
        r"ufunc '\w+' not supported for the input types",
        "A text, None or a list of different things stands where numbers are needed.",
    ),
    (
        TypeError,
        r"boolean (negative|subtract)",
        "Masks are not added or subtracted: ~mask turns a mask round, & and | join two.",
    ),
    (
        TypeError,
        r"must be (tuple of Tensors|bool|int|float|str), not|takes at most|did not return an iterable",
        "An argument of this call has the wrong type: torch.cat and np.concatenate take a list of parts, [a, b].",
    ),
    (OSError, r"", "A file cannot be opened here: the exercises need no files of their own."),
)
