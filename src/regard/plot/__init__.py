"""Arrays in, figure out: heat-maps, curves, terminal pictures and pages that need no network."""

from regard.plot.attention_map import EOS, AttentionMap, GoldLinks, Label
from regard.plot.bars import Bars, bars
from regard.plot.chart import chart_html, lines_html, side_by_side_html, table_html
from regard.plot.curves import LengthQuality, Series, System, curves, learning_curves, quality_by_length
from regard.plot.figure import picture, save
from regard.plot.fonts import FontChoice, FontFile, MissingFontWarning, choose_fonts
from regard.plot.heatmap import heatmap, heatmaps
from regard.plot.html import Score, alignment_html, page_html, report_html
from regard.plot.terminal import bar, terminal_heatmap
from regard.plot.view import AttentionView, view
from regard.plot.walk import walk

__all__ = [
    "EOS",
    "AttentionMap",
    "AttentionView",
    "Bars",
    "FontChoice",
    "FontFile",
    "GoldLinks",
    "Label",
    "LengthQuality",
    "MissingFontWarning",
    "Score",
    "Series",
    "System",
    "alignment_html",
    "bar",
    "bars",
    "chart_html",
    "choose_fonts",
    "curves",
    "heatmap",
    "heatmaps",
    "learning_curves",
    "lines_html",
    "page_html",
    "picture",
    "quality_by_length",
    "report_html",
    "save",
    "side_by_side_html",
    "table_html",
    "terminal_heatmap",
    "view",
    "walk",
]
