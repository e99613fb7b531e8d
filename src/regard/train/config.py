"""How a model is trained: the recipe's [train] table."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Metric = Literal["exact_match", "bleu", "chrf", "loss"]


class TrainConfig(BaseModel):
    """Every default is written here and nowhere else."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int | None = Field(None, ge=1)
    steps: int | None = Field(None, ge=1, description="optimizer steps; ends the run even inside an epoch")
    batch_sentences: int | None = Field(None, ge=1)
    batch_tokens: int | None = Field(None, ge=1, description="padding counted, on the longer side")
    accumulate: int = Field(1, ge=1, description="batches for each optimizer step")

    optimizer: Literal["adam", "adamw", "adadelta"] = "adam"
    learning_rate: float = Field(1e-3, gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = Field(1e-8, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["constant", "cosine", "inverse-sqrt", "plateau"] = "constant"
    warmup: int = Field(0, ge=0, description="steps of linear warm-up")
    final_rate: float = Field(0.0, ge=0, le=1, description="cosine ends at this share of the learning rate")
    plateau_factor: float = Field(0.5, gt=0, lt=1)
    plateau_patience: int = Field(2, ge=0, description="validations without improvement before the rate falls")
    clip: float | None = Field(1.0, gt=0, description="largest gradient norm")
    label_smoothing: float = Field(0.0, ge=0, lt=1)

    teacher_forcing: float = Field(1.0, ge=0, le=1, description="share of steps that read the true previous word")
    teacher_forcing_schedule: Literal["constant", "linear", "exponential", "inverse-sigmoid"] = "constant"
    teacher_forcing_end: float = Field(0.0, ge=0, le=1, description="where a falling schedule stops")
    teacher_forcing_speed: float = Field(5.0, gt=0, description="how sharply exponential and inverse-sigmoid fall")

    validate_every: int | None = Field(None, ge=1, description="steps; once an epoch if left out")
    validate_sentences: int = Field(500, ge=1)
    metric: Metric = "bleu"
    patience: int | None = Field(None, ge=1, description="validations without improvement before the run ends early")
    checkpoint_every: int | None = Field(None, ge=1, description="steps; with every validation if left out")
    average: int = Field(0, ge=0, description="how many of the last validated checkpoints to average at the end")
    start_from: str | None = Field(None, description="a bundle whose weights and tokenizers this run starts with")

    seed: int = 0
    deterministic: bool = False
    device: str = "auto"
    precision: Literal["auto", "float32", "bf16"] = "auto"
    threads: int | None = Field(None, ge=1, description="CPU threads; measured at the start if left out")
    tensorboard: bool = False

    @model_validator(mode="after")
    def _possible(self) -> "TrainConfig":
        if self.epochs is None and self.steps is None:
            raise ValueError("neither epochs nor steps is set: say how long to train")
        if (self.batch_sentences is None) == (self.batch_tokens is None):
            raise ValueError("set exactly one of batch_sentences and batch_tokens")
        if self.teacher_forcing_schedule != "constant" and self.teacher_forcing_end > self.teacher_forcing:
            raise ValueError(
                f"teacher forcing falls from {self.teacher_forcing} to {self.teacher_forcing_end}: the end must not be higher"
            )
        return self
