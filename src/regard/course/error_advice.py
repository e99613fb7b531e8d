"""What an exception means for the one who wrote the line: shapes that do not fit, an index too far, a missing name."""

import re
from collections.abc import Callable

Explain = Callable[["re.Match[str]"], str]


def advice_for(error: BaseException) -> str:
    """A sentence or two; empty for errors that speak for themselves."""
    try:
        message = str(error)
    except Exception:
        return ""
    for kind, pattern, explain in EXPLANATIONS:
        found = re.search(pattern, message) if isinstance(error, kind) else None
        if found:
            return explain if isinstance(explain, str) else explain(found)
    return ""


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", text))


def _broadcast(found: "re.Match[str]") -> str:
    left, right = _shape(found[1]), _shape(found[2])
    if len(left) == len(right):
        return f"{_between(left, right)} {LINE_UP}" + _reversed(left, right)
    wide, narrow = sorted((left, right), key=len, reverse=True)
    lost = " Where a max(), sum() or mean() took an axis away, keepdims=True keeps it."
    if narrow == wide[: len(narrow)]:
        return f"{_between(left, right)} {LINE_UP}{lost} Or put it back with [..., None] (for rows [:, None])."
    return f"{_between(left, right)} {LINE_UP} Give the smaller one a new axis of size 1 where it lacks one, [:, None]."


LINE_UP = "Shapes are compared from the right: axes must be equal, or 1."


def _between(left: tuple[int, ...], right: tuple[int, ...]) -> str:
    return f"The shapes {list(left)} and {list(right)} do not line up."


def _reversed(left: tuple[int, ...], right: tuple[int, ...]) -> str:
    return " One of them is transposed (.T)." if left == right[::-1] else ""


def _torch_size(found: "re.Match[str]") -> str:
    first, second, axis = (int(one) for one in found.groups())
    return (
        f"Two tensors do not line up: at axis {axis} one has {first} entries and the other {second}. {LINE_UP} A "
        f"tensor without a source axis needs one: unsqueeze(1) or [:, None]; a sum or max needs keepdim=True."
    )


def _product(found: "re.Match[str]") -> str:
    sizes = [int(one) for one in found.groups()[:4]]
    return (
        f"A matrix product [{sizes[0]}, {sizes[1]}] @ [{sizes[2]}, {sizes[3]}]: the inner axes ({sizes[1]} and "
        f"{sizes[2]}) must be equal. Is a matrix transposed (.T), is the order of the two swapped, or does one side "
        f"hold too much or too little (a concatenation left out)?"
    )


INNER = (
    "The inner axes of a matrix product must be equal. Is a matrix transposed (.T is missing or too much), or is the "
    "order of the two swapped (weights @ states)?"
)

EXPLANATIONS: tuple[tuple[type[BaseException], str, str | Explain], ...] = (
    (
        ValueError,
        r"operands could not be broadcast together with shapes (\([\d,]*\)) (\([\d,]*\))",
        _broadcast,
    ),
    (ValueError, r"matmul|shapes \([\d,]*\) and \([\d,]*\) not aligned", INNER),
    (
        ValueError,
        r"einstein|einsum|subscripts",
        "The letters of einsum do not fit the shapes: one letter for each axis.",
    ),
    (
        ValueError,
        r"truth value of an array",
        "An array with several rows is compared as one: Python's max, min, sum and `if` work on single numbers or "
        "along the first axis only. Use np.max and np.sum with axis=-1 and keepdims=True, or np.where.",
    ),
    (
        RuntimeError,
        r"Boolean value of Tensor",
        "`if` needs one truth value, a tensor has many: use torch.where or a mask.",
    ),
    (
        ValueError,
        r"inhomogeneous|setting an array element|expected sequence of length",
        "The rows have different lengths: pad the short ones to one length.",
    ),
    (
        ValueError,
        r"too many values to unpack|not enough values",
        "A call returns another number of results than you take.",
    ),
    (
        RuntimeError,
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) .*?dimension (\d+)",
        _torch_size,
    ),
    (RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", _product),
    (
        RuntimeError,
        r"size mismatch, got|inconsistent tensor size|expected size for first two dimensions|Expected size for|"
        r"mat1 dim 1 must match|vector and matrix|must be a matrix",
        INNER,
    ),
    (
        RuntimeError,
        r"Sizes of tensors must match except in dimension (\d+)",
        "Tensors side by side must agree in every axis but the one they are joined along. One of them lacks entries: "
        "repeat the query for each source position first, with expand(-1, states.shape[1], -1).",
    ),
    (
        RuntimeError,
        r"Tensors must have same number of dimensions",
        "Tensors side by side must have the same number of axes: unsqueeze or [:, None] the smaller one, and repeat it "
        "along the new axis (expand).",
    ),
    (
        RuntimeError,
        r"zero-dimensional tensor",
        "A tensor has lost all of its axes: a .squeeze() without an axis removes every axis of size 1, also the batch "
        "axis of one sentence. Name the axis.",
    ),
    (RuntimeError, r"stack expects each tensor to be equal", "torch.stack needs parts of one shape: pad them first."),
    (
        RuntimeError,
        r"view size is not compatible|view\(\).*contiguous|use \.reshape",
        "view() needs the numbers in their order in memory, and a transpose changes that: use reshape(), or "
        "contiguous() before view().",
    ),
    (
        RuntimeError,
        r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)",
        lambda found: f"{found[2]} numbers do not fit the shape [{found[1]}]: check the product of the sizes.",
    ),
    (ValueError, r"cannot reshape array of size", "The numbers do not fit that shape: check the product of the sizes."),
    (
        RuntimeError,
        r"input has inconsistent input_size: got (\d+),? expected (\d+)|input\.size\(-1\) must be equal to "
        r"input_size\. Expected (\d+), got (\d+)",
        "The recurrent cell gets an input of another width than it was built for: what it reads is a concatenation "
        "(torch.cat) of the word and what is fed beside it; is one of them left out, or there twice?",
    ),
    (
        RuntimeError,
        r"hidden has inconsistent|Expected hidden|hidden.size",
        "The state that the recurrent network gets has another shape than its own states: [batch, hidden] for a cell, "
        "[layers × directions, batch, hidden] for a gru.",
    ),
    (
        RuntimeError,
        r"`?lengths`? array to be sorted|sorted in decreasing order",
        "pack_padded_sequence expects the longest sentence first: give enforce_sorted=False.",
    ),
    (
        RuntimeError,
        r"Length of all samples has to be greater than 0",
        "A length is 0: count the real words, at least 1.",
    ),
    (
        RuntimeError,
        r"lengths.*CPU|should be a 1D CPU int64 tensor",
        "The lengths must be whole numbers, one for each row.",
    ),
    (
        RuntimeError,
        r"expected (m1 and m2|scalar type|.* to have the same dtype)|must have the same dtype|mat1 and mat2 must have",
        "Two tensors have different dtypes (float32 and float64): make new ones with the dtype of the inputs, for "
        "instance words.new_zeros(...) or torch.zeros(..., dtype=states.dtype).",
    ),
    (
        RuntimeError,
        r"Can't call numpy\(\) on Tensor that requires grad",
        "NumPy cuts the gradient: stay with torch's own functions, such as torch.softmax.",
    ),
    (
        RuntimeError,
        r"does not require grad|backward through the graph a second time",
        "There is no graph to go back through: something detaches (.detach(), .item(), no_grad) or it was used up.",
    ),
    (
        RuntimeError,
        r"leaf Variable that requires grad|modified by an inplace operation",
        "An in-place operation writes into a tensor that is still needed for the gradient: make a new one (a copy).",
    ),
    (
        RuntimeError,
        r"gather|scatter|Index tensor",
        "gather needs an index with as many axes as the tensor: targets[..., None], then squeeze(-1).",
    ),
    (
        RuntimeError,
        r"masked_fill.*bool|expected mask.*bool|mask dtype|bool",
        "The mask must be of dtype bool (True and False), not of numbers.",
    ),
    (
        TypeError,
        r"only (integer|length-1|0-dim)|can only be converted",
        "An array stands where one number is needed: math.exp and float() take one number, np.exp takes whole arrays.",
    ),
    (
        TypeError,
        r"bad operand type for unary ~|~ \(operator\.invert\)|bitwise_not",
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
    (TypeError, r"not iterable", "A single value stands where a list or a tuple is looped over or taken apart."),
    (
        TypeError,
        r"not supported between instances|unsupported operand",
        "Two values of different types are combined here.",
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
        r"'(Tensor|tuple|list|set|dict|str|int|float|NoneType|GRU|GRUCell)' object has no attribute '(\w+)'",
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
    (
        ValueError,
        r"axis (\d+) is out of bounds",
        "There is no such axis: the array has fewer of them here; -1 is the last.",
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
        RuntimeError,
        r"can't allocate memory|DefaultCPUAllocator",
        "There is not so much memory: a tensor is far larger than the inputs. Is a size a product where it should be a "
        "sum, or an id where it should be a count?",
    ),
    (
        RecursionError,
        r"",
        "The function calls itself without end: a helper of the same name hides another function, or the call that "
        "should end it is missing.",
    ),
    (ZeroDivisionError, r"", "A division by 0: an empty list or set has to be treated by itself."),
)
