"""A trained model for other runtimes: ONNX graphs built node by node, with one file of weights."""
