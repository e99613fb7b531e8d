"""Near-duplicates: which texts map to one string, and which do not."""

from regard.text.near_duplicates import bare


def test_bare_texts() -> None:
    assert bare("L'Été, 3 fois!") == "l été 3 fois"
    assert bare("वह किताब है।") != bare("वह कताब है।")
    assert bare("Don’t “go”…") == bare("don't, go") == "don t go"
    assert bare("!!!") == "!!!" != bare("???")
    assert bare("cafe\u0301 NOIR") == bare("Caf\u00e9  noir.")
    assert bare(" ! !\n") == "! !"


def test_variation_selectors_are_dropped() -> None:
    heart, sun, cook, pilot = (
        "\u2764\ufe0f",
        "\u2600\ufe0f",
        "\U0001f468\u200d\U0001f373",
        "\U0001f469\u200d\u2708\ufe0f",
    )
    assert len({bare(one) for one in (heart, sun, cook, pilot)}) == 4
    for emoji in (heart, sun, cook, pilot, "\u2764"):
        for text in ("I love you {}", "{} I love you", "{}I love you!", "I {} love{} you"):
            assert bare(text.replace("{}", emoji)) == "i love you"
    assert bare("می\u200cخواهم") != bare("میخواهم")
    assert bare("क्\u200dष") != bare("क्ष")


def test_case_is_folded_before_letters_are_composed() -> None:
    assert bare("\u0390") == bare("\u03aa\u0301") == bare("\u03b9\u0308\u0301")
