"""The files of an ONNX folder and the manifest that lists them."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard.bounds import excerpt
from regard.bundle.manifest import ONNX_FORMAT, Manifest

ENCODER, DECODER, DATA = "encoder.onnx", "decoder.onnx", "weights.bin"
OPSET: Final = 19
"""The oldest opset whose DequantizeLinear the reference runtime has; onnxruntime reads it from 1.15 on."""
IR_VERSION: Final = 9
ALIGNMENT: Final = 64
"""Tensors begin at multiples of this many bytes."""
NEW = "new_"
"""A step's output with this prefix is the new value of the state named after it."""


class Graphs(BaseModel):
    """Settings that the graphs of a folder were exported with."""

    model_config = ConfigDict(frozen=True)

    opset: int = Field(default=OPSET, ge=1)
    int8: bool = Field(default=False, description="whether matrices are int8 with a scale for each row")
    trace: bool = Field(default=False, description="whether a step also gives query, scores and context")
    state: tuple[str, ...] = Field(description="outputs of the encoder, which are inputs of a step")
    shared: tuple[str, ...] = Field(default=(), description="of these, the ones that the rows of a sentence may share")

    @model_validator(mode="after")
    def _shared_is_state(self) -> "Graphs":
        if odd := sorted({*self.shared} - {*self.state}):
            raise ValueError(f"shared: {excerpt(odd[0])} is not part of the state")
        return self


class OnnxManifest(Manifest):
    """A bundle's manifest, with the settings of its graphs."""

    format: str = ONNX_FORMAT
    onnx: Graphs
