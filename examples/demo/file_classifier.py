"""What surrounds magika's network: a file's bytes to the network's input, the network's output to a label.

The network and its configuration come in the Python package `magika` (Apache-2.0); none of the package's code runs here.
The input is int32 [files, 2048]: the first 1,024 bytes of the file without leading white space, then the last 1,024 without
trailing white space, where a shorter file is filled with the padding token (256) after its beginning and before its end.
The output is float32 [files, 214], a probability for each label.
"""

import importlib.util
import json
import os

import numpy


class FileClassifier:
    """Reads the package's model configuration; `model` is the path of its ONNX file."""

    def __init__(self):
        spec = importlib.util.find_spec("magika")
        if spec is None:
            raise FileNotFoundError("the Python package magika is not installed; dependencies.txt lists it")
        package = spec.submodule_search_locations[0]
        models = os.path.join(package, "models")
        folder = os.path.join(models, sorted(os.listdir(models))[-1])
        self.model = os.path.join(folder, "model.onnx")
        with open(os.path.join(folder, "config.min.json"), encoding="utf-8") as stream:
            self.configuration = json.load(stream)
        if self.configuration["mid_size"] or self.configuration["use_inputs_at_offsets"]:
            raise ValueError(f"{folder}: this version of the model takes inputs that are not prepared here")
        self.labels = self.configuration["target_labels_space"]

    def features(self, contents):
        """The network's row for a file's bytes, or None for a file with too little in it to be classified."""
        size = self.configuration
        block = size["block_size"]
        begin = contents[:block].lstrip()[: size["beg_size"]]
        end = contents[-block:].rstrip()[-size["end_size"] :]
        if len(begin) < size["min_file_size_for_dl"]:
            return None
        row = numpy.full(size["beg_size"] + size["end_size"], size["padding_token"], dtype=numpy.int32)
        row[: len(begin)] = list(begin)
        row[len(row) - len(end) :] = list(end)
        return row

    def batch(self, paths):
        """The files that can be classified, and the network's input for them."""
        rows, kept = [], []
        for path in paths:
            with open(path, "rb") as stream:
                row = self.features(stream.read())
            if row is not None:
                rows.append(row)
                kept.append(path)
        return kept, numpy.stack(rows)

    def label(self, probabilities):
        """The label and its probability for one row of the network's output; 'txt' or 'unknown' below the label's threshold."""
        best = int(numpy.argmax(probabilities))
        label = self.labels[best]
        probability = float(probabilities[best])
        threshold = self.configuration["thresholds"].get(label, self.configuration["medium_confidence_threshold"])
        if probability < threshold:
            return f"perhaps {label}", probability
        return self.configuration["overwrite_map"].get(label, label), probability
