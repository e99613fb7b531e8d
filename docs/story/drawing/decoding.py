"""Page 5: padding and packing, teacher forcing, and why a beam keeps more than one hypothesis."""

from collections.abc import Sequence

from drawing.canvas import (
    BLUE,
    GREEN,
    GREY,
    INK,
    MUTED,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_GREY,
    PALE_ORANGE,
    PALE_PURPLE,
    PURPLE,
    Sheet,
    Stroke,
)
from drawing.shapes import ruler

SENTENCES = (("turn", "off", "the", "lights"), ("i", "love", "you"), ("go",))
STEPS = 4
PLACE = 74.0
"""Width of a step's boxes."""


def packing() -> str:
    sheet = Sheet(
        "Padding and packing",
        "Above, three sentences of four, three and one word are filled up to a rectangle with padding, and a mask marks"
        " the real words. Below, packed: at each step only the sentences that still have a word take part.",
        348,
    )
    sheet.heading(30, "Padded: a rectangle with a mask")
    for row, sentence in enumerate(SENTENCES):
        top = 44 + row * 34.0
        for column in range(STEPS):
            real = column < len(sentence)
            words = sentence[column] if real else "PAD"
            fill, edge = (PALE_BLUE, BLUE) if real else (PALE_GREY, GREY)
            sheet.labelled((16 + column * 62, top), (58, 30), words, fill=fill, edge=edge, colour=INK if real else GREY)
            sheet.text(306 + column * 34, top + 20, "1" if real else "0", bold=real, colour=GREEN if real else GREY)
    sheet.text(357, 160, "mask: 1 is real", colour=MUTED)
    sheet.text(138, 160, "one row for each sentence", colour=MUTED)
    ruler(sheet, (16, 176), (464, 176))
    sheet.heading(204, "Packed: only real words take part")
    for step in range(STEPS):
        left = 16 + step * 112.0
        sheet.text(left + 29, 230, f"step {step + 1}", colour=MUTED)
        taking_part = [sentence[step] for sentence in SENTENCES if step < len(sentence)]
        for row, word in enumerate(taking_part):
            sheet.labelled((left, 238 + row * 34), (58, 30), word, fill=PALE_BLUE, edge=BLUE)
            if step + 1 < len(SENTENCES[row]):
                sheet.arrow([(left + 60, 253 + row * 34), (left + 110, 253 + row * 34)], Stroke(BLUE, 1.8))
    return sheet.svg()


def teacher_forcing() -> str:
    sheet = Sheet(
        "Teacher forcing and free running",
        "Above, in training, the decoder writes 'chien' instead of 'chat' but is given 'chat' as the next input. Below,"
        " in translation, it is given its own 'chien' and goes on from there.",
        436,
    )
    sheet.heading(30, "Training: the teacher gives the right word")
    _unrolled(sheet, 44, ["BOS", "le", "chat", "noir"], ["le", "chien", "noir", "dort"], wrong=1, forced=True)
    ruler(sheet, (16, 222), (464, 222))
    sheet.heading(250, "Translating: it reads what it wrote itself")
    _unrolled(sheet, 264, ["BOS", "le", "chien", "…"], ["le", "chien", "…", "…"], wrong=1, forced=False)
    return sheet.svg()


def _unrolled(
    sheet: Sheet, top: float, given: Sequence[str], wrote: Sequence[str], *, wrong: int, forced: bool
) -> None:
    """Four steps: what the decoder wrote above, the decoder, what it was given below."""
    for step, (below, above) in enumerate(zip(given, wrote, strict=True)):
        left = 82 + step * 101.0
        middle = left + PLACE / 2
        mistaken = step == wrong
        fill, edge = (PALE_ORANGE, ORANGE) if mistaken else (PALE_GREEN, GREEN)
        sheet.labelled((left, top), (PLACE, 30), above, fill=fill, edge=edge, bold=mistaken)
        sheet.labelled((left, top + 58), (PLACE, 32), "decoder", fill=PALE_PURPLE, edge=PURPLE)
        spoilt = not forced and step > wrong
        fill, edge = (PALE_ORANGE, ORANGE) if spoilt else (PALE_BLUE, BLUE)
        sheet.labelled((left, top + 120), (PLACE, 30), below, fill=fill, edge=edge, bold=spoilt and below != "…")
        sheet.arrow([(middle, top + 58), (middle, top + 32)])
        sheet.arrow([(middle, top + 120), (middle, top + 92)])
        if step + 1 < len(given):
            sheet.arrow([(left + PLACE, top + 74), (left + 101, top + 74)], Stroke(PURPLE, 2))
            if not forced:
                turn = left + PLACE + 11
                path = [(left + PLACE, top + 15), (turn, top + 15), (turn, top + 135), (left + 101, top + 135)]
                sheet.arrow(path, Stroke(ORANGE, 2, dashed=True))
    sheet.text(16, top + 20, "writes", anchor="start", colour=MUTED)
    sheet.text(16, top + 140, "is given", anchor="start", colour=MUTED)


FIRST = {"le": 0.55, "un": 0.45}
SECOND = {"le": {"chat": 0.40, "chien": 0.35}, "un": {"chat": 0.90, "chien": 0.05}}
"""Probabilities of the first word, and of the second after each first."""


def beam() -> str:
    sheet = Sheet(
        "Greedy search and a beam of two",
        "Greedy search takes 'le', which is likelier at first, and ends at 'le chat' with probability 0.22. A beam of"
        " two keeps 'un' as well and finds 'un chat' with probability 0.405.",
        330,
    )
    sheet.heading(30, "Greedy decides at once, a beam of 2 waits")
    sheet.labelled((16, 150), (58, 32), "BOS", fill=PALE_GREY, edge=GREY)
    finals = {(one, two): p * q for one, p in FIRST.items() for two, q in SECOND[one].items()}
    best = max(finals, key=lambda path: finals[path])
    greedy = ("le", "chat")
    for row, (first, chance) in enumerate(FIRST.items()):
        y = 76 + row * 148.0
        sheet.arrow([(74, 166), (146, y + 16)], Stroke(PURPLE, 1 + 3 * chance))
        sheet.labelled((148, y), (58, 32), first, fill=PALE_BLUE, edge=BLUE)
        sheet.text(104, y + (14 if row == 0 else 26), f"{chance:.2f}", colour=MUTED, anchor="end")
        for column, (second, share) in enumerate(SECOND[first].items()):
            high = y - 29 + column * 58
            sheet.arrow([(206, y + 16), (284, high + 16)], Stroke(PURPLE, 1 + 3 * share))
            path = (first, second)
            fill, edge = (PALE_GREEN, GREEN) if path == best else (PALE_ORANGE, ORANGE) if path == greedy else ("", "")
            sheet.labelled((286, high), (64, 32), second, fill=fill or PALE_GREY, edge=edge or GREY)
            sheet.text(243, high + (12 if column == 0 else 30), f"{share:.2f}", colour=MUTED, anchor="end")
            note = "  beam" if path == best else "  greedy" if path == greedy else ""
            colour = edge or MUTED
            sheet.text(358, high + 21, f"{finals[path]:.3f}{note}", anchor="start", colour=colour, bold=bool(edge))
    return sheet.svg()
