"""A trained model on disk: safetensors, a JSON manifest and the tokenizers in one folder; no pickle."""

from regard.bundle.find import find_bundle
from regard.bundle.manifest import FORMAT, VERSION, BundleError, Manifest
from regard.bundle.store import Bundle, load_bundle, save_bundle

__all__ = ["FORMAT", "VERSION", "Bundle", "BundleError", "Manifest", "find_bundle", "load_bundle", "save_bundle"]
