"""What ValueError and RuntimeError of NumPy and torch mean: shapes, axes, dtypes, gradients."""

import re
from collections.abc import Callable

Explain = Callable[["re.Match[str]"], str]


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

ARRAY_ERRORS: tuple[tuple[type[BaseException], str, str | Explain], ...] = (
    (
        ValueError,
        r"operands could not be broadcast together with shapes (\([\d,]*\)) (\([\d,]*\))",
        _broadcast,
    ),
    (ValueError, r"matmul|shapes \([\d,]*\) and \([\d,]*\) not aligned", INNER),
    (
        Exception,
        r"einstein|einsum|subscripts|remapped shapes",
        "The letters of einsum do not fit the shapes: one letter for each axis, axes of one letter equally long.",
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
        RuntimeError,
        r"Class values must be (smaller|non-negative)",
        "one_hot gets a position outside the row, −1 or one after the last: positions are counted from 0, the last of "
        "n is n − 1 (off by one).",
    ),
    (
        RuntimeError,
        r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
        lambda found: (
            f"{found[2]} numbers do not fit into {found[1]} places: the slice on the left and the value on the "
            "right must have the same length."
        ),
    ),
    (
        ValueError,
        r"could not broadcast input array from shape (\([\d,]*\)) into shape (\([\d,]*\))",
        lambda found: (
            f"A value of shape {list(_shape(found[1]))} does not fit into the place of shape "
            f"{list(_shape(found[2]))}: the slice on the left and the value on the right must have the same length."
        ),
    ),
    (
        ValueError,
        r"zero-size array to reduction|arg is an empty sequence|max\(\) iterable argument is empty|empty sequence",
        "A maximum of nothing: a slice or a list is empty here. Is its end too early (off by one)?",
    ),
    (
        ValueError,
        r"assignment destination is read-only|array is read-only",
        "This array may only be read: work on a copy.",
    ),
    (
        ValueError,
        r"is not in (list|tuple)|x not in tuple|substring not found",
        "Something is looked up that is not there: ask `in` first.",
    ),
    (
        RuntimeError,
        r"one of the variables needed for gradient|element 0 of tensors does not require grad",
        "The gradient cannot get through: something detaches the tensor or overwrites it.",
    ),
    (
        RuntimeError,
        r"dimension specified as|must have at least \d dimensions",
        "There is no such axis: the tensor has fewer of them here; -1 is the last.",
    ),
    (
        RuntimeError,
        r"only Tensors of floating point|not implemented for '(Long|Int|Bool|Half)'|result type Float can't be cast|"
        r"Input dtype must be either a floating point",
        "Whole numbers or truth values stand where floats are needed: .to(states.dtype) or .float().",
    ),
    (
        RuntimeError,
        r"Expected tensor for argument .* to have one of the following scalar types: Long|tensors used as indices",
        "An index or a word id must be a whole number: dtype torch.long.",
    ),
    (
        RuntimeError,
        r"batch1 must be a 3D tensor|must be a 3D|1D tensors expected|2D tensor|must be 2-?D|[Ee]xpected .*-?D",
        "A product or a layer gets a tensor with another number of axes than it wants (torch.bmm takes three, torch.mv "
        "a matrix and a vector): add an axis with [:, None] or take one off.",
    ),
    (
        ValueError,
        r"axis (\d+) is out of bounds",
        "There is no such axis: the array has fewer of them here; -1 is the last.",
    ),
    (
        RuntimeError,
        r"can't allocate memory|DefaultCPUAllocator",
        "There is not so much memory: a tensor is far larger than the inputs. Is a size a product where it should be a "
        "sum, or an id where it should be a count?",
    ),
    (
        Exception,
        r"only one element tensors can be converted|elements cannot be converted to Scalar",
        "A tensor of several numbers stands where one number is needed (.item(), int(), float()).",
    ),
    (
        RuntimeError,
        r"one_hot is only applicable",
        "Positions must be whole numbers: .long().",
    ),
    (
        RuntimeError,
        r"Expected target size",
        "cross_entropy wants the vocabulary as axis 1: flatten batch and target first, logits.flatten(0, 1) and "
        "targets.flatten().",
    ),
    (
        ValueError,
        r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
        lambda found: (
            f"There are {found[1]} rows of logits and {found[2]} targets: flatten both alike, and cut neither."
        ),
    ),
    (
        RuntimeError,
        r"probability tensor contains",
        "Chances must be positive numbers: take the softmax of the logits first.",
    ),
    (
        ValueError,
        r"all the input array",
        "Arrays side by side must have the same number of axes and agree in all but the one they are joined along.",
    ),
)
