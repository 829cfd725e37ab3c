"""Export of a run's models: PyTorch and ONNX files for the parties and the server, and a card."""
