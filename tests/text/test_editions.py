"""Editions of one sentence: what they have in common, and what makes two sentences of them."""

from regard.text.editions import bare


def test_bare_texts() -> None:
    assert bare("L'Été, 3 fois!") == "l été 3 fois"
    assert bare("वह किताब है।") != bare("वह कताब है।")
    assert bare("Don’t “go”…") == bare("don't, go") == "don t go"
    assert bare("!!!") == "!!!" != bare("???")
    assert bare("cafe\u0301 NOIR") == bare("Caf\u00e9  noir.")
    assert bare(" ! !\n") == "! !"
