"""Settings of learning: data, models, local training, the server and what is sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from scdn.scenario.field_types import WholeNumber, setting
from scdn.scenario.round_settings import RoundLearningSettings

MemoryName = Literal["keep", "zero-out", "dropout"]  # what stays of departed devices


def _damping(choice: Any) -> Any:
    is_number = isinstance(choice, int | float) and not isinstance(choice, bool)
    if choice in ("none", "active", "fitted") or (is_number and 0 < choice <= 1):
        return choice
    raise ValueError('must be "none", "active", "fitted" or a number in (0, 1]')


class LearningSettings(RoundLearningSettings):
    """How the parties learn."""

    dataset: str = setting("mnist", "which data", min_length=1)
    scaling: Literal["unit", "standard", "none"] = setting(
        "standard", "of the inputs", chosen="matters more than the batch size"
    )
    holdout: float = setting(
        0.0, "part of the training rows that stand in for the test rows, to tune on", ge=0, le=0.9
    )
    split: Literal["random", "blocks", "strips", "patches", "modality", "parties"] = setting(
        "random", 'of the features among parties; "parties": as the data itself says'
    )
    model: str = setting(
        "auto", "of parties: auto, mlp, cnn, alexnet or package.module:factory", min_length=1
    )
    hidden: WholeNumber = setting(64, "hidden neurons of a perceptron", gt=0)
    initialisation: Literal["default", "kaiming"] = setting(
        "default", "of parties' weights", chosen="PyTorch's; deep networks need kaiming"
    )
    fusion_hidden: WholeNumber = setting(64, "hidden neurons of the fusion model", gt=0)
    fusion_head: str = setting(
        "mlp", "what follows its first layer: mlp or package.module:factory", min_length=1
    )
    input: Literal["own", "masked"] = setting(
        "own", '"masked": all columns, others zero', chosen="a party needs only its own"
    )
    labels: Literal["shared", "server"] = setting("shared", "who has the labels")
    payload: Literal["model", "embeddings"] = setting("model", "what is sent, M_n")
    server_turn: Literal["parallel", "after"] = setting(
        "after", "when the server trains", chosen="fresh embeddings keep large steps stable"
    )
    damping: Annotated[Any, BeforeValidator(_damping)] = setting(
        "fitted",
        "part of an update that is applied: none, active (1/parties), fitted, or a number",
        chosen="together parties overshoot; this was best where any was needed",
    )
    server_rate: float = setting(0.1, "the server's learning rate", chosen="as devices", gt=0)
    halve_rate_every: WholeNumber = setting(5, "rounds after which learning rates halve", gt=0)
    importance_max: float = setting(5.0, "γ^max", chosen="the paper names no value", ge=1)
    sample_rows: WholeNumber = setting(
        2048, "training rows for importance and losses", chosen="enough for stable ranks", gt=0
    )
    smoothness: Literal["norms", "measured"] = setting(
        "norms",
        'how L_n is found: the paper\'s spectral norms, or "measured" on the way that parties go',
    )
    imputation: Literal["zero", "mean", "learned"] = setting(
        "learned",
        "embeddings a departed party never made",
        chosen="fits them to those who are present",
    )
    dropout: float = setting(
        0.2, "chance to be left out of a step, with a memory that trains for exits", ge=0, lt=1
    )
    perturbation: float = setting(
        0.0, "deviation of noise on embeddings as they are sent", chosen="off", ge=0
    )
    refresh: WholeNumber = setting(
        1, "rounds after which devices send all rows' embeddings, where they are real", gt=0
    )
    device: Literal["cpu", "cuda"] = setting("cpu", "what computes")
    precision: Literal["float32", "float64", "bfloat16"] = setting(
        "float32", "of the models; bfloat16 keeps weights in 32 bits"
    )
    redraw_optimizers: bool = setting(False, "draw the optimiser anew each round")
