"""Using a trained model: translate, look at the attention, score a given target."""

from regard.runtime.row_worker import Worker
from regard.runtime.translation import Translation, TranslationStep
from regard.runtime.translator import Translator, load

__all__ = ["Translation", "TranslationStep", "Translator", "Worker", "load"]
