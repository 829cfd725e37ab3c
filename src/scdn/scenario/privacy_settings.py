"""Settings of privacy: noise on what is sent, and labels that are drawn at random."""

from __future__ import annotations

from pydantic import Field, model_validator

from scdn.scenario.field_types import FrozenModel, NonNegative, Positive, setting


class Privacy(FrozenModel):
    """How much of a row others can infer from what is sent; everything is off by default.

    Noise is Gaussian. Its standard deviation, on each number, is a multiple of the length to which
    a row's numbers are shortened before.
    """

    embedding_clip: Positive | None = setting(
        None, "largest length of a row's embedding that is sent; longer ones are shortened to it"
    )
    embedding_noise: NonNegative = setting(
        0.0, "noise on each number of an embedding, as a multiple of embedding_clip"
    )
    gradient_clip: Positive | None = setting(
        None,
        "largest length of the gradient of a row's own loss that the server sends; longer ones are "
        "shortened to it",
    )
    gradient_noise: NonNegative = setting(
        0.0, "noise on each number of a gradient, as a multiple of gradient_clip"
    )
    label_epsilon: Positive | None = setting(
        None,
        "ε of the labels that devices train against: each row's is drawn once per run, its true "
        "one e^ε times as often as any other, and predicted from the device's own embedding; "
        "absent: true labels, and the prediction of all devices",
        le=30,
    )
    delta: float = Field(
        1e-5,
        description="probability with which the recorded ε need not hold",
        gt=0,
        lt=1,
        json_schema_extra={"chosen": "below one in the number of rows of common data sets"},
    )

    @property
    def is_on(self) -> bool:
        """Return whether anything is shortened, has noise, or is drawn at random."""
        return self.is_counted or self.label_epsilon is not None

    @property
    def is_counted(self) -> bool:
        """Return whether ε grows with what is sent, by Opacus's accountant."""
        return self.embedding_clip is not None or self.gradient_clip is not None

    @model_validator(mode="after")
    def _check_clips(self) -> Privacy:
        for kind in ("embedding", "gradient"):
            noise = getattr(self, f"{kind}_noise")
            if noise and getattr(self, f"{kind}_clip") is None:
                raise ValueError(f"{kind}_noise = {noise:g} needs {kind}_clip")
        if self.label_epsilon is not None and self.gradient_clip is not None:
            raise ValueError("label_epsilon and gradient_clip both hide labels; choose one")
        return self
