"""Models as files: `torch.export` and ONNX, checked against the library before they are written."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from scdn.errors import describe_error, require_package
from scdn.export.exported_modules import ExportedParty, ExportedServer, column_scaling
from scdn.export.model_card import model_card
from scdn.file_io import OutputError, make_folder, to_json, write_atomic
from scdn.learning.dataset_tensors import flat_tensors
from scdn.learning.tensors import TensorOptions
from scdn.rng import generator
from scdn.simulation.trained_model import TrainedModel

TOLERANCE = 1e-5  # of ONNX Runtime against the library, relative to values above 1
CARD = "card.md"
_PACKAGES = ("onnx", "onnxscript", "onnxruntime")
_CHECKED_ROWS = 64
_ROWS = "rows"  # the dimension that may have any size
Values = dict[str, NDArray[Any]]


def export_run(folder: str | Path, out: str | Path) -> list[Path]:
    """Write the models of a run and its card to a folder; return the paths.

    Nothing is written unless every model agrees with the library.
    """
    for package in _PACKAGES:
        require_package(package, "export", "export")
    model = TrainedModel.load(folder, exact=True)
    files: dict[str, bytes] = {}
    inputs = _check_inputs(model)
    options = model.inference.parties.factory.options
    tensors = flat_tensors(model.form.scaled(inputs, options.array_type), options)
    embeddings = model.inference.embed(tensors)
    for name in model.inference.sent_in:
        view = model.inference.parties.views[name]
        raw = flat_tensors(inputs, TensorOptions(precision="float64"))[view.modality].numpy()
        own = raw[:, view.columns].reshape(len(raw), *view.shape)
        files |= _model_files(
            f"party-{quote(name, safe='')}",
            ExportedParty(model, name),
            {"values": own},
            {"embeddings": embeddings[name].numpy()},
            _metadata(model) | _party_metadata(model, name),
        )
    outputs = model.inference.outputs(embeddings, _CHECKED_ROWS, {})
    has_classes = model.form.task == "classification"
    answer = outputs.softmax(1) if has_classes else outputs
    files |= _model_files(
        "server",
        ExportedServer(model),
        {name: embeddings[name].numpy() for name in model.inference.sent_in},
        {"probabilities" if has_classes else "prediction": answer.numpy()},
        _metadata(model) | {"inputs": list(model.inference.sent_in)},
    )
    files[CARD] = model_card(model, sorted(files)).encode()
    target = Path(out)
    make_folder(target)
    for name, content in files.items():
        write_atomic(target / name, content)
    return [target / name for name in files]


def _check_inputs(model: TrainedModel) -> Values:
    """Return rows like the training rows, to compare models on."""
    draw = generator(model.scenario.seed, "export-check")
    form = model.form
    return {
        name: form.scalings[name].shift
        + form.scalings[name].scale * draw.standard_normal((_CHECKED_ROWS, *shape))
        for name, shape in form.shapes.items()
    }


# --- metadata -------------------------------------------------------------------------------------


def _metadata(model: TrainedModel) -> dict[str, Any]:
    return {
        "dataset": model.form.dataset,
        "task": model.form.task,
        "classes": list(model.form.classes),
        "rounds": model.rounds,
        "method": model.run.method,
        "seed": model.run.seed,
        "parties": list(model.inference.sent_in),
    }


def _party_metadata(model: TrainedModel, name: str) -> dict[str, Any]:
    view = model.inference.parties.views[name]
    columns: list[Any] = view.columns.tolist()
    if view.modality == "table":
        columns = [model.form.features[column] for column in columns]
    shift, scale = column_scaling(model, view)
    return {
        "party": name,
        "modality": view.modality,
        "columns": columns,
        "shift": shift.tolist(),
        "scale": scale.tolist(),
    }


# --- one model ------------------------------------------------------------------------------------


def _model_files(
    name: str,
    module: nn.Module,
    inputs: Values,
    expected: Values,
    metadata: Mapping[str, Any],
) -> dict[str, bytes]:
    """Return a module as `.pt2` and `.onnx` that give the expected outputs."""
    arguments = tuple(torch.from_numpy(np.ascontiguousarray(values)) for values in inputs.values())
    (output,) = expected
    try:
        with _quiet():
            program = torch.export.export(
                module.eval(), arguments, dynamic_shapes=_any_rows(module, arguments)
            )
            buffer = io.BytesIO()
            torch.export.save(program, buffer, extra_files={"metadata.json": to_json(metadata)})
            onnx = _onnx_bytes(program, list(inputs), output, metadata)
    except Exception as error:  # of a user's model, or of a layer that cannot be exported
        raise OutputError(f"{name}: cannot be exported ({describe_error(error)})") from None
    _check(f"{name}.pt2", program.module()(*arguments).numpy(), expected[output])
    _check(f"{name}.onnx", _run_onnx(onnx, inputs), expected[output])
    return {f"{name}.pt2": buffer.getvalue(), f"{name}.onnx": onnx}


def _any_rows(module: nn.Module, arguments: Sequence[torch.Tensor]) -> Any:
    shapes = tuple({0: torch.export.Dim(_ROWS)} for _ in arguments)
    return (shapes,) if isinstance(module, ExportedServer) else shapes


def _onnx_bytes(
    program: Any, inputs: Sequence[str], output: str, metadata: Mapping[str, Any]
) -> bytes:
    from onnx import helper

    exported = torch.onnx.export(
        program, (), dynamo=True, input_names=inputs, output_names=[output], verbose=False
    )
    assert exported is not None  # noqa: S101 - since no file was named
    proto = exported.model_proto
    for value in (*proto.graph.input, *proto.graph.output, *proto.graph.value_info):
        for size in value.type.tensor_type.shape.dim:
            if size.dim_param:
                size.dim_param = _ROWS
    texts = {key: v if isinstance(v, str) else to_json(v, None) for key, v in metadata.items()}
    helper.set_model_props(proto, texts)
    return bytes(proto.SerializeToString())


def _run_onnx(model: bytes, inputs: Values) -> NDArray[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, inputs)[0])


def _check(name: str, values: NDArray[Any], expected: NDArray[Any]) -> None:
    worst = float(np.max(np.abs(values - expected) / np.maximum(1.0, np.abs(expected))))
    if not worst <= TOLERANCE:
        raise OutputError(f"{name}: differs from the library by {worst:.2g}, nothing was written")


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence what PyTorch's exporter says about itself."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
