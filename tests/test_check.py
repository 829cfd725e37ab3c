"""The checkers accept what runs accept, and name what is wrong with everything else."""

# ruff: noqa: ARG002  the methods of bad examples ignore what they are given

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from scdn.check import (
    check_dataset,
    check_memory,
    check_method,
    check_metric,
    check_model,
    check_optimizer,
)
from scdn.check.check_by_name import KINDS, check_named
from scdn.cli import main
from scdn.cli.check_command import _KINDS
from scdn.control.evaluation import Decision
from scdn.control.plan import make_plan
from scdn.data import Dataset, fetch
from scdn.errors import InputError
from scdn.learning.local_optimizers import LOCAL_OPTIMIZERS, LocalSgd
from scdn.learning.memories import MEMORIES, KeepMemory, Memory
from scdn.learning.metrics import METRICS, Metric
from scdn.learning.tensors import StateDict
from scdn.methods import Method, methods


def assert_problem(problems, phrase):
    """There is a problem with this phrase, and each is one sentence that says what to do."""
    assert any(phrase in problem for problem in problems), problems
    for problem in problems:
        assert "\n" not in problem
        assert problem.endswith(".")
        assert ";" in problem


# --- methods --------------------------------------------------------------------------------------


def decide(problem, **changes):
    """Plan two iterations at full power and clock for all devices, the server where it is."""
    count = len(problem)
    decision = {
        "server_m": problem.server_m,
        "active": np.ones(count, dtype=bool),
        "iterations": np.minimum(2.0, np.floor(problem.most_iterations())),
        "power_w": problem.max_power_w,
        "cpu_hz": problem.cpu_max_hz,
    }
    return make_plan(problem, "mine", "heuristic", Decision(**(decision | changes)), 0.0)


def fails_without_devices(problem, _):
    assert len(problem), "nobody is there"
    return decide(problem)


def changes_its_input(problem, _):
    plan = decide(problem, server_m=problem.server_m.copy())
    problem.importance[:] = 1.5
    return plan


def random_plan(problem, _):
    return decide(problem, power_w=problem.max_power_w * random.random())  # noqa: S311


def drawn_plan(problem, context):
    return decide(problem, power_w=problem.max_power_w * context.rng.random(len(problem)))


BAD_CONTROLLERS = {
    "no devices, the controller raised AssertionError": fails_without_devices,
    "returned a NoneType": lambda _problem, _context: None,
    "changed the problem's importance": changes_its_input,
    "made two plans for one problem": random_plan,
    "broke max_power_w": lambda p, _: decide(p, power_w=2 * p.max_power_w),
    "broke region_x for the server": lambda p, _: decide(p, server_m=-np.ones(3)),
    "broke whole_iterations": lambda p, _: decide(p, iterations=np.full(len(p), 0.5)),
    "broke inactive_power_w": lambda p, _: decide(
        p, active=np.zeros(len(p), bool), iterations=np.zeros(len(p))
    ),
    "planned active of type float64": lambda p, _: (
        decide(p)
        and replace(decide(p), decision=decide(p).decision._replace(active=np.ones(len(p))))
    ),
    "planned power_w of shape (1,)": lambda p, _: replace(
        decide(p), decision=decide(p).decision._replace(power_w=np.ones(1))
    ),
}


@pytest.mark.parametrize("name", [m.name for m in methods() if "paper" not in m.name])
def test_the_package_s_methods_have_no_problems(name):
    assert check_named(name, "method") == ("method", [])


def test_a_method_of_the_user_has_no_problems():
    assert check_method(Method("mine", lambda problem, _: decide(problem))) == []
    assert check_method(Method("drawn", drawn_plan)) == []


@pytest.mark.parametrize("phrase", BAD_CONTROLLERS)
def test_problems_of_a_controller_are_named(phrase):
    assert_problem(check_method(Method("mine", BAD_CONTROLLERS[phrase])), phrase)


def test_problems_of_a_method_s_fields_are_named():
    method = Method("a:b", lambda problem, _: decide(problem), memory="gone", schedule="never")
    problems = check_method(method)
    for phrase in ("name is 'a:b'", "memory is unknown", "schedule is unknown"):
        assert_problem(problems, phrase)
    assert_problem(check_method(decide), "make it Method(name, controller)")


# --- models ---------------------------------------------------------------------------------------


class TwoLayers(nn.Sequential):
    def __init__(self, shape, width):
        inputs = int(np.prod(shape))
        super().__init__(nn.Flatten(), nn.Linear(inputs, 5), nn.ReLU(), nn.Linear(5, width))


class Tables(nn.Linear):
    """Takes rows of tables only."""

    def __init__(self, shape, width):
        (inputs,) = shape
        super().__init__(inputs, width)


class Detached(TwoLayers):
    def forward(self, rows):
        return super().forward(rows).detach()


class Centred(TwoLayers):
    def forward(self, rows):
        outputs = super().forward(rows)
        return outputs - outputs.mean(0)


class Unused(TwoLayers):
    def __init__(self, shape, width):
        super().__init__(shape, width)
        self.spare = nn.Parameter(torch.ones(2))


def with_layer(layer):
    return lambda shape, width: TwoLayers(shape, width).append(layer(width))


def seeded_by_the_clock(shape, width):
    torch.seed()
    return TwoLayers(shape, width)


def with_constant_weights(shape, width):
    model = TwoLayers(shape, width)
    for parameter in model.parameters():
        nn.init.constant_(parameter, 0.1)
    return model


BAD_MODELS = {
    "the factory raised TypeError": nn.Linear,
    "returned a list": lambda _shape, _width: [],
    "returned (4, 4) for 4 rows": lambda shape, width: TwoLayers(shape, width + 1),
    "mixes the rows of a batch": Centred,
    "keeps running statistics": with_layer(nn.BatchNorm1d),
    "different outputs for the same rows": with_layer(lambda _: nn.Dropout()),
    "cuts the gradient": Detached,
    "does not use its parameter spare": Unused,
    "has no parameters to train": lambda _shape, width: nn.Sequential(
        nn.Flatten(), nn.AdaptiveAvgPool1d(width)
    ),
    "other initial weights for the same seed": seeded_by_the_clock,
    "the same initial weights for all seeds": with_constant_weights,
    "values that are not finite": lambda shape, width: with_infinite_bias(shape, width),
}


def with_infinite_bias(shape, width):
    model = TwoLayers(shape, width)
    nn.init.constant_(model[-1].bias, torch.inf)
    return model


@pytest.mark.parametrize("name", ["mlp", "cnn", "alexnet"])
def test_the_package_s_models_have_no_problems(name):
    assert check_named(name) == ("model", [])


@pytest.mark.parametrize("factory", [TwoLayers, Tables])
def test_a_model_of_the_user_has_no_problems(factory):
    assert check_model(factory) == []


@pytest.mark.parametrize("phrase", BAD_MODELS)
def test_problems_of_a_model_are_named(phrase):
    assert_problem(check_model(BAD_MODELS[phrase], shapes=[(12,), (1, 8, 8)]), phrase)


def test_what_cannot_be_called_is_no_model():
    assert_problem(check_model(3), "make it a function factory(shape, width)")


# --- metrics --------------------------------------------------------------------------------------


class ErrorRate(Metric):
    name, higher_is_better, unit = "error_rate", False, "%"

    def compute(self, outputs, targets):
        return 100 * float((outputs.argmax(1) != targets).float().mean())


class WrongDirection(ErrorRate):
    higher_is_better = True


class AsTensor(ErrorRate):
    def compute(self, outputs, targets):
        return (outputs.argmax(1) != targets).float().mean()


class Undefined(ErrorRate):
    def compute(self, outputs, targets):
        return super().compute(outputs, targets) - float("nan")


class FirstRow(ErrorRate):
    def compute(self, outputs, targets):
        return super().compute(outputs, targets) + float(outputs[0, 0].abs())


class Counting(ErrorRate):
    calls = 0.0

    def compute(self, outputs, targets):
        self.calls += 1.0
        return super().compute(outputs, targets) + self.calls


class Writing(ErrorRate):
    def compute(self, outputs, targets):
        outputs -= outputs.mean()
        return super().compute(outputs, targets)


class TooMuch(ErrorRate):
    def compute(self, outputs, targets):
        return 300 + super().compute(outputs, targets)


class Failing(ErrorRate):
    def compute(self, outputs, targets):
        raise RuntimeError("no score")


class Reserved(ErrorRate):
    name, unit, higher_is_better = "test_loss", "J", None


BAD_METRICS = {
    "set higher_is_better = False": WrongDirection,
    "returned a Tensor": AsTensor,
    "returned nan": Undefined,
    "depends on the order of rows": FirstRow,
    "gave two scores": Counting,
    "changed its arguments": Writing,
    "a percentage must be between 0 and 100": TooMuch,
    "raised RuntimeError: no score": Failing,
    "Its name is 'test_loss'": Reserved,
    "Its unit is 'J'": Reserved,
    "higher_is_better is not a bool": Reserved,
}


@pytest.mark.parametrize("name", METRICS.names())
def test_the_package_s_metrics_have_no_problems(name):
    assert check_named(name) == ("metric", [])


def test_a_metric_of_the_user_has_no_problems():
    assert check_metric(ErrorRate()) == []
    assert check_metric(ErrorRate(), "classification") == []


@pytest.mark.parametrize("phrase", BAD_METRICS)
def test_problems_of_a_metric_are_named(phrase):
    assert_problem(check_metric(BAD_METRICS[phrase](), "classification"), phrase)


def test_a_metric_s_class_is_no_metric():
    assert_problem(check_metric(ErrorRate), "create an object of it: ErrorRate()")
    assert_problem(check_metric(max), "subclass scdn.learning.metrics.Metric")


# --- data sets ------------------------------------------------------------------------------------


def dataset(**changes):
    draw = np.random.default_rng(0)
    fields = {
        "name": "mine",
        "train": {"table": draw.normal(size=(40, 3))},
        "train_y": np.arange(40) % 2,
        "test": {"table": draw.normal(size=(10, 3))},
        "test_y": np.arange(10) % 2,
        "classes": ("no", "yes"),
        "features": ("a", "b", "c"),
    }
    return Dataset(**(fields | changes))


def altered(**changes):
    """A data set whose fields changed after its own checks."""
    entry = dataset()
    for name, value in changes.items():
        object.__setattr__(entry, name, value)
    return entry


NAN_ROWS = {"table": np.full((40, 3), np.nan)}
BAD_DATASETS = {
    "values that are not finite": lambda: altered(train=NAN_ROWS),
    "labels go from 0 to 7": lambda: altered(train_y=np.arange(40) % 8),
    "labels have type float64": lambda: altered(test_y=np.arange(10) / 9),
    "targets have shape (39,)": lambda: altered(train_y=np.arange(39) % 2),
    "different modalities": lambda: altered(test={"image": np.zeros((10, 2, 2, 1))}),
    "have shape (3,), test rows (2,)": lambda: altered(test={"table": np.zeros((10, 2))}),
    "have type object": lambda: altered(train={"table": np.full((40, 3), None)}),
    "needs at least 2": lambda: dataset(
        classes=("one",), train_y=np.zeros(40, int), test_y=np.zeros(10, int)
    ),
    "No training row is of class maybe": lambda: dataset(classes=("no", "yes", "maybe")),
    "10 of 10 test rows are also training rows": lambda: dataset(
        test={"table": dataset().train["table"][:10]}
    ),
    "targets are not all finite": lambda: altered(
        task="regression", train_y=np.full(40, np.inf), test_y=np.zeros(10)
    ),
}


def test_good_data_sets_have_no_problems():
    fetch("digits")
    assert check_named("digits") == ("dataset", [])
    assert check_dataset(dataset()) == []
    assert check_dataset(dataset) == []


@pytest.mark.parametrize("phrase", BAD_DATASETS)
def test_problems_of_a_data_set_are_named(phrase):
    assert_problem(check_dataset(BAD_DATASETS[phrase]()), phrase)


def test_a_function_that_makes_no_data_set_is_named():
    assert_problem(check_dataset(lambda: 3), "make it a scdn.data.Dataset")
    assert_problem(check_dataset(lambda: dataset(train_y=np.arange(40))), "raised InputError")


# --- memories -------------------------------------------------------------------------------------


class Fading(KeepMemory):
    """Changes what it keeps."""

    def shrink(self, fusion, names):
        self.embeddings = {
            name: kept._replace(test=kept.test / 2) for name, kept in self.embeddings.items()
        }
        return fusion


class Forgetful(KeepMemory):
    def load_state_dict(self, state, options):
        pass


class Unsaved(Memory):
    """Keeps what a checkpoint does not hold."""

    def add(self, name, embeddings):
        super().add(name, embeddings)
        self.count = getattr(self, "count", 0) + 1

    def evaluation_mask(self, members):
        return np.full(len(members), float(getattr(self, "count", 0) < 2))


class Greedy(Memory):
    def shrink(self, fusion, names):
        return fusion.without_members(fusion.members[-1:])


class NoBlock(KeepMemory):
    def shrink(self, fusion, names):
        return fusion.without_members(names)


class Silent(Memory):
    def add(self, name, embeddings):
        pass


class HalfMask(Memory):
    def evaluation_mask(self, members):
        return np.full(len(members), 0.5)


class WrongMask(Memory):
    def training_mask(self, members, steps, draw):
        return np.ones(len(members))


class RandomMask(Memory):
    def training_mask(self, members, steps, draw):
        return np.random.default_rng().integers(0, 2, (steps, len(members))).astype(float)


class NoState(Memory):
    def state_dict(self):
        return {}


class Unwritable(Memory):
    def state_dict(self):
        return StateDict({}, {"departed": {1, 2}, "kept": []})


class Nothing(Memory):
    def shrink(self, fusion, names):
        return None


BAD_MEMORIES = {
    "the embeddings of b changed": Fading,
    "After a checkpoint, departed differs": Forgetful,
    "After a checkpoint, evaluation_mask differs": Unsaved,
    "which had not left": Greedy,
    "kept without its block": NoBlock,
    "call super().add(name, embeddings)": Silent,
    "other values than 0 and 1": HalfMask,
    "training_mask returned (4,)": WrongMask,
    "changed from call to call": RandomMask,
    "return a StateDict": NoState,
    "as JSON raised TypeError": Unwritable,
    "shrink returned a NoneType": Nothing,
}


@pytest.mark.parametrize("name", MEMORIES.names())
def test_the_package_s_memories_have_no_problems(name):
    assert check_named(name) == ("memory", [])


@pytest.mark.parametrize("phrase", BAD_MEMORIES)
def test_problems_of_a_memory_are_named(phrase):
    assert_problem(check_memory(BAD_MEMORIES[phrase]), phrase)


def test_only_a_class_is_a_memory():
    assert_problem(check_memory(dataset), "name a subclass of scdn.learning.memories.Memory")


# --- local optimisers -----------------------------------------------------------------------------


class SignSgd(LocalSgd):
    def direction(self, key, gradient):
        return gradient.sign()


class Uphill(LocalSgd):
    def direction(self, key, gradient):
        return -gradient


class Averaging(LocalSgd):
    def direction(self, key, gradient):
        return gradient.mean(0, keepdim=True).expand_as(gradient)


class InPlace(LocalSgd):
    def step(self, gradients, index):
        for key, gradient in gradients.items():
            self.parameters[key].sub_(0.05 * gradient)


class LeavingTraces(LocalSgd):
    """Keeps state in the class, so that it survives the round."""

    slower = 1.0

    def direction(self, key, gradient):
        LeavingTraces.slower *= 0.9
        return self.slower * gradient


class OutsideState(LocalSgd):
    """Keeps a velocity that `select` does not know of."""

    def direction(self, key, gradient):
        velocity = self.__dict__.setdefault("velocity", {})
        before = velocity.get(key)
        if before is None or before.shape != gradient.shape:
            before = torch.zeros_like(gradient)
        velocity[key] = gradient + 0.5 * before
        return velocity[key]


class Exploding(LocalSgd):
    def direction(self, key, gradient):
        return gradient / 0.0


class Losing(LocalSgd):
    def step(self, gradients, index):
        self.parameters = {}


class Stepless(LocalSgd):
    def step(self, gradients, index):
        raise NotImplementedError


class Unbounded(LocalSgd):
    bound_as = "adam"


BAD_OPTIMIZERS = {
    "step against the gradient": Uphill,
    "depend on the others in its stack": Averaging,
    "changed the round's first weight in place": InPlace,
    "Two rounds from the same start differ": LeavingTraces,
    "Parties that go on after `select`": OutsideState,
    "is not finite": Exploding,
    "parameters has no weight": Losing,
    "step raised NotImplementedError": Stepless,
    "Its bound_as is 'adam'": Unbounded,
}


@pytest.mark.parametrize("name", LOCAL_OPTIMIZERS.names())
def test_the_package_s_optimizers_have_no_problems(name):
    assert check_named(name) == ("optimizer", [])


def test_an_optimizer_of_the_user_has_no_problems():
    assert check_optimizer(SignSgd) == []


@pytest.mark.parametrize("phrase", BAD_OPTIMIZERS)
def test_problems_of_an_optimizer_are_named(phrase):
    assert_problem(check_optimizer(BAD_OPTIMIZERS[phrase]), phrase)


# --- by name --------------------------------------------------------------------------------------

MINE = Method("mine", lambda problem, _: decide(problem))
ERROR_RATE = ErrorRate()
DATASET = dataset()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MINE", "method"), ("ERROR_RATE", "metric"), ("DATASET", "dataset"),
        ("KeepMemory", "memory"), ("SignSgd", "optimizer"), ("TwoLayers", "model"),
    ],
)  # fmt: skip
def test_the_kind_is_detected(name, kind):
    assert check_named(f"test_check:{name}") == (kind, [])


def test_the_command_prints_one_line_per_problem(capsys):
    assert main(["check", "test_check:MINE"]) == 0
    assert capsys.readouterr().out == "test_check:MINE: no problems found (method)\n"
    assert main(["check", "test_check:Uphill"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("test_check:Uphill: After 6 steps on a convex loss")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("nothing", None, 'got "nothing", must be a registered name'),
        ("nothing", "method", "must be one of mission, sc-dn"),
        ("sc-dn", "metric", "must be one of top1"),
        ("math:pi", None, "--kind must say which"),
        ("no_such_module:X", None, "there is no module no_such_module"),
    ],
)
def test_a_name_that_cannot_be_checked_is_refused(name, kind, message):
    with pytest.raises(InputError, match=message):
        check_named(name, kind)


def test_the_command_knows_every_kind():
    assert _KINDS == KINDS
