"""Curves and bars read back from the figure: the right numbers, nothing zoomed, gaps where nothing is known."""

from collections.abc import Callable

import numpy as np
import pytest

from regard.plot import Bars, LengthQuality, Series, System, bars, curves, picture, quality_by_length
from regard.plot.curves import ceiling


@pytest.fixture
def quality() -> LengthQuality:
    attention = System("attention", (99, 97.5, None), (98, 95, None), (100, 99, None))
    return LengthQuality("BLEU", ("3-5", "6-10", "11-20"), (40, 60, 0), (attention, System("none", (96, 70, None))))


def test_losses_scores_and_learning_rate_have_axes_of_their_own() -> None:
    steps = np.arange(10)
    figure = curves(
        Series.of("training loss", steps, 3 - 0.2 * steps),
        validation_loss=Series.of("validation loss", [5, 9], [2.5, 1.5]),
        scores=[Series.of("exact match", [5, 9], [0.2, 0.9])],
        learning_rate=Series.of("learning rate", steps, [1e-3] * 10),
    )
    loss, rate, score = figure.axes
    assert [line.get_label() for line in loss.lines] == ["training loss", "validation loss"]
    np.testing.assert_allclose(loss.lines[0].get_ydata(), 3 - 0.2 * steps)
    assert (loss.get_ylabel(), rate.get_ylabel(), score.get_ylabel()) == ("loss", "learning rate", "exact match")
    assert score.get_ylim() == pytest.approx((0, 0.9 * 1.03))
    assert [text.get_text() for text in loss.get_legend().get_texts()] == [
        "training loss",
        "validation loss",
        "exact match",
    ]
    picture(figure)


def test_a_long_loss_is_drawn_raw_and_smoothed_and_a_gap_stays_a_gap() -> None:
    loss = np.sin(np.arange(400)) + 3
    loss[100] = np.nan
    raw, smooth = curves(Series.of("loss", range(400), loss)).axes[0].lines
    np.testing.assert_array_equal(raw.get_ydata(), loss)
    drawn = np.asarray(smooth.get_ydata(), dtype=float)
    assert np.isnan(drawn).sum() == 1
    assert np.isnan(drawn[100])
    assert drawn[200] == pytest.approx(loss[195:206].mean())


def test_quality_shows_n_bands_and_a_gap_for_an_empty_bin(quality: LengthQuality) -> None:
    axes = quality_by_length(quality, title="by length").axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["3-5\nn=40", "6-10\nn=60", "11-20\nn=0"]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [99, 97.5, np.nan])
    assert axes.get_ylim() == (0, 103)
    assert len(axes.collections) == 1, "one system has a band"
    assert axes.lines[0].get_marker() != axes.lines[1].get_marker(), "never colour alone"


def test_long_names_stand_below_each_other_and_stay_inside_the_figure() -> None:
    systems = tuple(System(f"system {number} with a name that is long, and longer still", (50,)) for number in range(5))
    figure = quality_by_length(LengthQuality("BLEU", ("1-10",), (9,), systems), title="Above the names")
    picture(figure)
    legend, axes = figure.axes[0].get_legend(), figure.axes[0]
    assert legend is not None
    assert legend.get_window_extent().x1 <= figure.bbox.x1
    assert legend.get_window_extent().y1 < axes._left_title.get_window_extent().y0  # type: ignore[attr-defined]
    assert axes.get_window_extent().width > figure.bbox.width / 2


@pytest.mark.parametrize(
    ("scores", "top"),
    [((31.2, None), 35), ((97.5, np.nan), 100), ((0.87,), 0.9), ((0.2, 0.3), 0.3), ((1,), 1), ((0, None), 1), ((), 1)],
)
def test_a_score_axis_starts_at_0_and_ends_above_the_data(scores: tuple[float | None, ...], top: float) -> None:
    assert ceiling(scores) == top


def test_bars_mark_masked_positions_and_draw_below_zero() -> None:
    stage = Bars("scores", ("the", "cat", "PAD"), (1.5, -0.25, None))
    axes = bars([stage, Bars("weights", ("the", "cat", "PAD"), (0.85, 0.15, 0))]).axes[0]
    assert [patch.get_height() for patch in axes.patches] == [1.5, -0.25, 0]
    assert [text.get_text() for text in axes.texts] == ["1.50", "−0.25", "masked"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Series.of("loss", [1], [1, 2]), "series 'loss' has 1 x values and 2 y values"),
        (lambda: curves(Series.of("loss", [1], [np.nan])), "series 'loss' holds no finite loss"),
        (lambda: LengthQuality("BLEU", (), (), ()), "0 length bins and 0 systems"),
        (lambda: LengthQuality("BLEU", ("1",), (), (System("a", (1,)),)), "0 counts for 1 length bins"),
        (lambda: LengthQuality("B", ("1",), (3,), (System("a", (1, 2)),)), "2 scores of 'a' for 1 length bins"),
        (
            lambda: LengthQuality("B", ("1",), (3,), (System("a", (1,), (1,)),)),
            "0 high of 'a' for 1 length bins",
        ),
        (lambda: Bars("scores", ("a",), ()), "bars 'scores' have 1 labels but 0 values"),
        (lambda: bars([]), "no stages to draw"),
    ],
)
def test_inputs_that_do_not_fit_raise(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
