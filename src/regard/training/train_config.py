"""How a model is trained: the recipe's [train] table."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from regard.bounds import MOST
from regard.data.tables import Table

Steps = Annotated[int, Field(ge=1, le=MOST["steps"])]
Epochs = Annotated[int, Field(ge=1, le=MOST["epochs"])]
Repeats = Annotated[int, Field(ge=1, le=MOST["repeats"])]
Weight = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Metric = Literal["exact_match", "bleu", "chrf", "loss"]


class GuideConfig(Table):
    """[train.guide]: guided alignment, a loss that trains attention on given word links (Chen et al. 2016)."""

    weight: Weight = Field(0.0, description="weight of guided alignment; 0 is off")
    links: Path | None = None
    """A Pharaoh file, line i for training pair i (default: the corpus's links)."""
    words: Literal["model", "spaces"] = Field("model", description="how words are counted in the links")
    layer: int | None = Field(None, ge=0, le=MOST["layers"])
    """The guided layer of a Transformer, from 0 (default: the last but one)."""
    head: int = Field(0, ge=0, le=MOST["heads"], description="the guided head of that layer, from 0")
    shift: Literal[0, 1] = Field(0, description="0 guides the step that produces a word, 1 the next, which has read it")


class TrainConfig(Table):
    """The defaults of [train]; only epsilon's depends on the optimizer (see `build_optimizer`)."""

    epochs: Epochs | None = Field(None, description="passes over the training pairs")
    steps: Steps | None = Field(None, description="optimizer steps; ends the run even inside an epoch")
    batch_sentences: int | None = Field(None, ge=1, le=MOST["batch_sentences"])
    """Pairs in a batch; alternative to batch_tokens."""
    batch_tokens: int | None = Field(None, ge=1, le=MOST["batch_tokens"])
    """Tokens in a batch on each side, padding counted."""
    bucket: bool = Field(True, description="batches of similar length; false: every batch is a random sample")
    pad_to: Repeats = Field(1, description="pad batches to multiples of it; 8 gives few shapes, for CUDA graphs")
    accumulate: Repeats = Field(1, description="batches for each optimizer step")

    optimizer: Literal["adam", "adamw", "adadelta"] = Field("adam", description="the optimizer")
    learning_rate: Positive = Field(1e-3, description="learning rate; 1.0 is usual for adadelta")
    betas: tuple[float, float] = Field((0.9, 0.999), description="coefficients of adam and adamw")
    rho: float = Field(0.95, gt=0, lt=1, description="coefficient of adadelta")
    epsilon: Positive | None = Field(None, description="epsilon of the optimizer (default: 1e-8, adadelta 1e-6)")
    weight_decay: Weight = Field(0.0, description="weight decay of the optimizer")
    schedule: Literal["constant", "cosine", "inverse-sqrt", "plateau"] = "constant"
    """How the learning rate changes after the warm-up."""
    warmup: int = Field(0, ge=0, le=MOST["steps"], description="steps of linear warm-up")
    final_rate: Share = Field(0.0, description="cosine ends at this share of the learning rate")
    plateau_factor: float = Field(0.5, gt=0, lt=1, description="factor of the learning rate at a plateau")
    plateau_patience: int = Field(2, ge=0, le=MOST["epochs"])
    """Validations without improvement before the rate falls."""
    clip: Positive | None = Field(1.0, description="largest gradient norm")
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="share of probability spread over the whole vocabulary")
    agreement: Weight = Field(0.0, description="weight of R-Drop; 2.5 is α = 5 of the paper")
    hide_words: float = Field(0.0, ge=0, lt=1, description="share of words in both texts that become unknown")

    guide: GuideConfig = Field(default_factory=lambda: GuideConfig.model_validate({}), description="guided alignment")
    coverage: Weight = 0.0
    """Weight of the coverage loss: attention to each source piece should sum to 1."""

    teacher_forcing: Share = Field(1.0, description="share of steps that read the true previous word")
    teacher_forcing_schedule: Literal["constant", "linear", "exponential", "inverse-sigmoid"] = "constant"
    """How teacher forcing falls during training."""
    teacher_forcing_end: Share = Field(0.0, description="the final share of a falling schedule")
    teacher_forcing_speed: float = Field(5.0, gt=0, le=100, description="steepness of exponential and inverse-sigmoid")

    validate_every: Steps | None = Field(None, description="steps between validations (default: once an epoch)")
    validate_sentences: int = Field(500, ge=1, le=MOST["count"])
    """Development pairs that are decoded at each validation."""
    metric: Metric = Field("bleu", description="chooses the best model; equal scores: the lower validation loss")
    patience: Epochs | None = Field(None, description="validations without improvement before the run ends early")
    checkpoint_every: Steps | None = Field(None, description="steps between checkpoints, besides every validation")
    average: int = Field(0, ge=0, le=MOST["repeats"])
    """How many of the last validated weights to average at the end."""
    source_vectors: str | None = Field(None, description="a file of word vectors that initialise the embedding")
    target_vectors: str | None = Field(None, description="a file of word vectors for the target side")
    start_from: str | None = Field(None, description="a bundle whose weights and tokenizers this run starts with")

    seed: int = Field(0, ge=-MOST["seed"], le=MOST["seed"], description="seed of initial weights, batches and dropout")
    deterministic: bool = Field(False, description="bit-equal runs from equal seeds")
    device: str = Field("auto", description="the device: cpu, cuda, cuda:1, mps, or auto")
    precision: Literal["auto", "float32", "bf16"] = "auto"
    """Precision of computation; auto is bf16 on a GPU that supports it."""
    threads: int | None = Field(None, ge=1, le=MOST["threads"])
    """CPU threads (default: OMP_NUM_THREADS, else measured; 1 if deterministic)."""
    tensorboard: bool = Field(False, description="whether events are written for TensorBoard")

    @model_validator(mode="after")
    def _possible(self) -> "TrainConfig":
        if self.epochs is None and self.steps is None:
            raise ValueError("neither epochs nor steps is set: set one of them")
        if (self.batch_sentences is None) == (self.batch_tokens is None):
            raise ValueError("set exactly one of batch_sentences and batch_tokens")
        if self.start_from is not None and (self.source_vectors is not None or self.target_vectors is not None):
            raise ValueError("start_from brings its own embeddings: leave source_vectors and target_vectors out")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas = {list(self.betas)}: both must be at least 0 and less than 1")
        if self.teacher_forcing_schedule != "constant" and self.teacher_forcing_end > self.teacher_forcing:
            raise ValueError(
                f"teacher forcing falls from {self.teacher_forcing} to {self.teacher_forcing_end}: "
                "the end must not be higher"
            )
        return self
