"""`regard doctor --fast` runs small models and reports which implementation each operation chose."""

import pytest

from regard.lab.fast_report import fast_report


def texts() -> dict[str, str]:
    return {finding.text.partition(":")[0]: "\n".join(finding.lines()) for finding in fast_report()}


def test_it_reports_what_ran_and_why_others_did_not() -> None:
    found = texts()
    decode = found["models.rnn.decoder.decode"]
    assert "decode_one_operation: additive GRU, training" in decode
    assert "plain: Luong, input feeding, training" in decode
    assert (
        "not decode_one_operation: not additive attention over the whole sentence (Luong, input feeding, training)"
        in decode
    ), "it ran in other work"
    assert "not decode_captured: gains only where gradients are computed on a GPU" in decode
    encode = found["models.rnn.encoder.encode"]
    assert "not encode_padded: too much padding (Luong, input feeding, training)" in encode
    assert "not encode_padded: gains only where gradients are computed on a CPU (Luong, input feeding, dec" in encode
    assert "not packed_model: " in found["registry.prepare_for_decoding"]
    assert "search.decode.beam_search: plain" in found["search.decode.beam_search"]
    assert "top_by_blocks" in found["search.scoring.top"]


def test_regard_plain_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_PLAIN", "1")
    (finding,) = fast_report()
    assert finding.text == "REGARD_PLAIN is set: every operation runs its plain version"
