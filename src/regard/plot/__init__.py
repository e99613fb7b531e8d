"""Arrays in, figure out: heat-maps, curves, terminal pictures and pages that need no network."""

from regard.plot.attention_map import EOS, AttentionMap, GoldLinks, Label
from regard.plot.curves import Bars, LengthQuality, Series, System, bars, curves, quality_by_length
from regard.plot.figure import picture, save
from regard.plot.fonts import FontChoice, FontFile, MissingFontWarning, choose_fonts
from regard.plot.heatmap import heatmap, heatmaps
from regard.plot.html import Score, alignment_html, report_html
from regard.plot.terminal import bar, terminal_bars, terminal_heatmap, terminal_heatmap_rich
from regard.plot.walk import walk, walk_rich

__all__ = [
    "EOS",
    "AttentionMap",
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
    "choose_fonts",
    "curves",
    "heatmap",
    "heatmaps",
    "picture",
    "quality_by_length",
    "report_html",
    "save",
    "terminal_bars",
    "terminal_heatmap",
    "terminal_heatmap_rich",
    "walk",
    "walk_rich",
]
