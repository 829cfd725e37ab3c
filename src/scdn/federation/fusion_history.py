"""Go back to an earlier fusion model where a device that lied has spoilt the present one.

The server trains its fusion model on what devices send. A lie that is found late, or that grows
slowly, has been learned by then, and the model may not find back by itself. So the models of the
last rounds are kept, and once a device has been left out, the server goes on with the one that has
the least loss on rows held out, with the embeddings that it uses from now on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter

from torch import Tensor

from scdn.federation.embedding_harm import HarmMeasure
from scdn.learning.fusion_model import FusionModel
from scdn.learning.tensors import Arrays, StateDict, strip_prefix, to_arrays

MAX_MODELS = 8  # of the last rounds in which nobody was left out
WATCHED_ROUNDS = 3  # in which the models are compared, from one in which somebody was on
MIN_GAIN = 0.02  # part of the loss by which an earlier model must be better
_ARRAYS = "fusions"


@dataclass
class FusionHistory:
    """The fusion models with which recent rounds began, each with its round."""

    log: Callable[[str], None] = lambda _: None
    _models: deque[tuple[int, FusionModel]] = field(
        default_factory=lambda: deque(maxlen=MAX_MODELS)
    )
    _left_out_in: int | None = None  # the last round in which somebody was

    def note_left_out(self, round_: int) -> None:
        """Compare the models in the rounds from this one on."""
        self._left_out_in = round_

    def begin_round(
        self, round_: int, harm: HarmMeasure, sent: Mapping[str, Tensor], rows: Tensor
    ) -> None:
        """Keep the present model, or go back to a better one if somebody was left out.

        Parameters
        ----------
        round_
            The index of the round that begins.
        harm
            Measures losses with the server's model, and can exchange it.
        sent
            Embeddings of rows held out, (rows, width), of the parties that are not left out.
        rows
            The training rows that they are of.
        """
        server = harm.server
        last = self._left_out_in
        if last is None or round_ - last >= WATCHED_ROUNDS:
            if not self._models or self._models[-1][0] != round_:
                self._models.append((round_, server.fusion))
            return
        tables = harm.with_imputed(sent, rows)
        present = server.fusion
        tried = [(harm.loss(tables, rows), round_, present)]
        for earlier, model in self._models:
            if (known := _with_members_of(model, present)) is not None:
                server.fusion = known
                tried.append((harm.loss(tables, rows), earlier, known))
        (loss, _, _), (least, best_round, best) = tried[0], min(tried, key=itemgetter(0))
        is_better = least < (1 - MIN_GAIN) * loss
        server.fusion = best if is_better else present
        if is_better:
            told = f"its loss is {least:.3g} instead of {loss:.3g}"
            self.log(f"the fusion model is again that of round {best_round + 1}: {told}")

    def state_dict(self) -> StateDict:
        """Return the models and their rounds."""
        arrays: Arrays = {}
        for index, (_, model) in enumerate(self._models):
            arrays |= to_arrays(model.parameters, f"{_ARRAYS}/{index}/parameters")
            arrays |= to_arrays(model.buffers, f"{_ARRAYS}/{index}/buffers")
        models = [[round_, *model.members] for round_, model in self._models]
        return StateDict(arrays, {"models": models, "left_out_in": self._left_out_in})

    def load_state_dict(self, state: StateDict, present: FusionModel) -> None:
        """Restore what `state_dict` returned, with models that are built as the present one."""
        self._left_out_in = state.values["left_out_in"]
        self._models.clear()
        for index, (round_, *members) in enumerate(state.values["models"]):
            saved = strip_prefix(state.arrays, f"{_ARRAYS}/{index}/")
            tensors = {name: present.options.tensor(array) for name, array in saved.items()}
            model = replace(
                present,
                members=tuple(members),
                parameters=strip_prefix(tensors, "parameters/"),
                buffers=strip_prefix(tensors, "buffers/"),
            )
            self._models.append((round_, model))


def _with_members_of(model: FusionModel, present: FusionModel) -> FusionModel | None:
    """Return an earlier model with the present members; those that came later keep their blocks."""
    gone = set(model.members) - set(present.members)
    model = model.without_members(gone)
    count = len(model.members)
    if model.members != present.members[:count]:
        return None
    blocks = present.parameters["blocks"].clone()
    blocks[:count] = model.parameters["blocks"]
    return replace(
        present,
        parameters={**model.parameters, "blocks": blocks},
        buffers=model.buffers,
    )
