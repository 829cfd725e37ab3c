"""Settings of learning: data, models, local training, the server and what is sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Strict, model_validator

from scdn.scenario.field_types import (
    NonNegative,
    NumberBits,
    Positive,
    PositiveWhole,
    Probability,
    Text,
    WholeNumber,
    setting,
)
from scdn.scenario.privacy_settings import Privacy
from scdn.scenario.round_settings import RoundLearningSettings


def _check_damping(choice: Any) -> Any:
    is_number = isinstance(choice, int | float) and not isinstance(choice, bool)
    if choice in ("none", "active") or (is_number and 0 < choice <= 1):
        return choice
    raise ValueError('must be "none", "active" or a number in (0, 1]')


class LearningSettings(RoundLearningSettings):
    """How the parties and the server learn."""

    dataset: Text = setting("mnist", "name of the data set")
    scaling: Literal["unit", "standard", "none"] = setting(
        "standard", "scaling of the inputs", reason="matters more than the batch size"
    )
    holdout: float = setting(
        0.0, "fraction of the training rows that replaces the test rows, for tuning", ge=0, le=0.9
    )
    split: Literal["random", "blocks", "strips", "patches", "modality", "parties"] = setting(
        "random", 'how features are split among parties; "parties": as the data set defines'
    )
    model: Text = setting(
        "auto", "model of the parties: auto, mlp, linear, cnn, alexnet or package.module:factory"
    )
    hidden: PositiveWhole = setting(64, "hidden neurons of a party's perceptron")
    initialisation: Literal["default", "kaiming"] = setting(
        "default", "initial weights of the parties", reason="PyTorch's; deep networks need kaiming"
    )
    fusion_hidden: PositiveWhole = setting(64, "hidden neurons of the fusion model")
    fusion_head: Text = setting(
        "mlp",
        "layers after the fusion model's first one: mlp, linear (none, whatever fusion_hidden is) "
        "or package.module:factory",
    )
    input: Literal["own", "masked"] = setting(
        "own",
        'model input: "own" columns only, or "masked": all columns, those of others zero',
        reason="a party has only its own",
    )
    labels: Literal["shared", "server"] = setting(
        "shared", "where the labels are: at every party, or only at the server"
    )
    payload: Literal["protocol", "model"] = setting(
        "protocol",
        'what a report is billed as: "protocol", the messages that are really sent, or "model", '
        "the party's model, as in the paper",
    )
    number_bits: NumberBits = setting(
        32, "bits per number of embeddings and of their gradients that are sent"
    )
    unheard: Literal["imputed", "known"] = setting(
        "imputed",
        "what the server has of present parties that do not report: embeddings that are imputed "
        "from earlier reports, or true ones, as in the paper",
    )
    table_rounds: WholeNumber = setting(
        0,
        "number of reports over which a party sends its embeddings of all training rows, part by "
        "part, for when it has left; 0: never",
        ge=0,
    )
    table_survival: Probability = setting(
        1.0, "largest survival probability at which parties send parts of that table"
    )
    local_optimizer: Literal["own", "adam"] = setting(
        "own", 'optimizer of the parties: each device\'s own, or "adam" for all of them'
    )
    step: Literal["searched", "fitted", "rate"] = setting(
        "searched",
        'how far parties go along their updates: "searched" by the server on rows that nobody '
        'trained on, "fitted" to the trained rows (at most 1), or "rate": as their rates say',
        reason="needs no learning rate to be set",
    )
    damping: Annotated[Any, BeforeValidator(_check_damping)] = setting(
        "none",
        'with step = "rate", applied fraction of an update: none (all of it), active (1/parties), '
        "or a number",
    )
    server_optimizer: Literal["adam", "sgd"] = setting(
        "adam",
        'how the server trains: by "adam" on rows of recent rounds, or by "sgd", as in the paper, '
        "with one step per batch that parties draw",
        reason="better than SGD or L-BFGS with the same number of gradients",
    )
    server_steps: WholeNumber = setting(
        150,
        "steps of the server per recorded round, if it trains by adam",
        reason="as many for every method",
        ge=0,
    )
    server_rounds: PositiveWhole = setting(
        8,
        "number of recent rounds on whose rows the server trains, by adam, if it needs so many",
        reason="better than 1 or 4",
    )
    server_turn: Literal["parallel", "after"] = setting(
        "after",
        "when the server trains by sgd: at the same time as the parties, or after them",
        reason="fresh embeddings keep large steps stable",
    )
    server_rate: Positive = setting(
        0.1, "the server's learning rate, if it trains by sgd", reason="as the devices'"
    )
    arrival_steps: Literal["party", "shared"] = setting(
        "party",
        "steps of a server that trains by sgd at an arrival of an asynchronous round: as many as "
        "the arriving party's, or an equal share of what it takes in a synchronous round",
    )
    gradients: Literal["arrival", "start"] = setting(
        "arrival",
        "asynchronous schedule: gradients that a device trains on are those of the moment when it "
        "reports, or when it begins to work; a federation always has those of the start",
    )
    halve_rate_every: WholeNumber = setting(
        5,
        "number of rounds after which learning rates are halved, unless the step is searched; "
        "0: never",
        ge=0,
    )
    importance_max: float = setting(
        5.0, "largest importance, γ^max", reason="importances then range from 1 to 5", ge=1
    )
    sample_rows: PositiveWhole = setting(
        2048, "training rows for importance and losses", reason="enough for a stable ranking"
    )
    validation: float = setting(
        0.0,
        "share of the training rows that nobody trains on, and on which a mission judges its "
        "progress: at most sample_rows, and eight batches where they are sent with reports; "
        "0: a tenth in a mission, none with other methods",
        ge=0,
        le=0.5,
    )
    smoothness: Literal["norms", "measured"] = setting(
        "measured",
        'how L_n is estimated: from spectral norms (the paper), or "measured" along the updates',
        reason="norms of a trained server are in the thousands, and nobody would train",
    )
    metrics: Annotated[tuple[str, ...], Strict(False)] = setting(
        (), "further metrics to record, by name or package.module:NAME; the first becomes the score"
    )
    imputation: Literal["zero", "mean", "learned"] = setting(
        "learned", "how to fill in missing embeddings", reason="predicts them from present parties"
    )
    augment_flip: bool = setting(
        False, "mirror images at random, left to right, while parties train"
    )
    augment_shift: WholeNumber = setting(
        0, "most pixels by which images are shifted sideways at random while parties train", ge=0
    )
    dropout: float = setting(
        0.2, 'probability that the memory "dropout" leaves a party out of a step', ge=0, lt=1
    )
    buffer_reports: PositiveWhole | None = setting(
        None,
        'reports after which the server goes on with the schedule "buffered"; '
        "absent: three quarters of the devices present, and at least one fewer than all",
    )
    perturbation: NonNegative = setting(
        0.0, "standard deviation of noise that is added to sent embeddings", reason="off"
    )
    privacy: Privacy = setting(Privacy(), "noise on what is sent, and what it protects")
    device: Literal["cpu", "cuda"] = setting("cpu", "device that computes")
    precision: Literal["float32", "float64", "bfloat16"] = setting(
        "float32", "number format of the models; with bfloat16, weights stay in 32 bits"
    )
    redraw_optimizers: bool = setting(False, "draw each device's optimizer again every round")

    @property
    def holds_rows_out(self) -> bool:
        """Return whether some rows are held out, on which nobody trains."""
        return self.step == "searched" or self.server_optimizer == "adam" or self.validation > 0

    @property
    def adds_noise(self) -> bool:
        """Return whether the same embeddings differ each time they are sent."""
        return self.noise_deviation > 0

    @property
    def noise_deviation(self) -> float:
        """Return the standard deviation of the noise on each number of sent embeddings."""
        privacy = self.privacy
        return max(self.perturbation, privacy.embedding_noise * (privacy.embedding_clip or 0.0))

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, table: Any) -> Any:
        return complete_learning_table(table)

    @model_validator(mode="after")
    def _check_settings_together(self) -> LearningSettings:
        if self.damping != "none" and self.step != "rate":
            raise ValueError(f'damping = {self.damping!r} needs step = "rate", not "{self.step}"')
        if self.unheard == "known" and self.number_bits < 32:
            raise ValueError(f'number_bits = {self.number_bits} needs unheard = "imputed"')
        for name in ("gradient_clip", "label_epsilon"):
            if getattr(self.privacy, name) is not None and self.labels == "shared":
                raise ValueError(f'privacy.{name} needs labels = "server": devices have them')
        if self.privacy.is_on and self.unheard == "known":
            raise ValueError('privacy needs unheard = "imputed": what is known was never sent')
        if self.privacy.is_on and self.perturbation:
            raise ValueError("perturbation must be 0 with privacy, which has noise of its own")
        return self


def complete_learning_table(table: Any) -> Any:
    """Fill in what `damping` and `server_turn` imply where `step` or `server_optimizer` is unsaid.

    Files from before these two settings have `damping = "fitted"` for what is a step now; earlier
    ones had `refresh`, and a payload of embeddings.
    """
    if not isinstance(table, dict):
        return table
    table = {key: value for key, value in table.items() if key != "refresh"}
    if table.get("payload") == "embeddings":
        table["payload"] = "protocol"
    implied: dict[str, Any] = {}
    if "damping" in table and "step" not in table:
        fitted = table["damping"] == "fitted"
        implied = {"step": "fitted", "damping": "none"} if fitted else {"step": "rate"}
    if "server_turn" in table and "server_optimizer" not in table:
        implied["server_optimizer"] = "sgd"
    return table | implied
