"""Single ONNX operators on edge cases, compiled by Weft and compared with onnxruntime (with numpy where that is wrong or lacks
the operator): sizes that depend on data, ties, NaN, empty tensors, negative axes and steps, positions outside an image.

Each case is a model of one operator. `weft verify` compares every kernel with the interpreter's value as well.
usage: operator_edges.py --weft TOOL --folder WHERE [--filter TEXT]
"""

import argparse
import os
import sys

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import weft_tool

NAN, INF = numpy.nan, numpy.inf
RANDOM = numpy.random.default_rng(7)


def floats(*shape):
    return RANDOM.normal(0, 1, shape).astype(numpy.float32)


def integers(*values):
    return numpy.array(values, numpy.int64)


# ONNX's own evaluator says what is expected: for what onnxruntime lacks, or computes otherwise than ONNX's published tests.
REFERENCE = object()


class Case:
    """`fixed` inputs are constants of the model, the others its inputs. `expected` takes the place of onnxruntime."""

    def __init__(self, name, operator, inputs, outputs=1, opset=20, fixed=(), expected=None, tolerance=1e-5, options=(), **attributes):
        self.name, self.operator, self.outputs, self.opset = name, operator, outputs, opset
        self.inputs = [value if value is None else numpy.asarray(value) for value in inputs]
        self.fixed, self.expected, self.tolerance, self.options, self.attributes = fixed, expected, tolerance, options, attributes

    def model(self):
        names = [f"i{index}" if value is not None else "" for index, value in enumerate(self.inputs)]
        made = [f"o{index}" for index in range(self.outputs)]
        node = helper.make_node(self.operator.split("+")[0], names, made, name=self.operator.lower(), **self.attributes)
        given = [(name, value) for name, value in zip(names, self.inputs) if value is not None]
        graph = helper.make_graph(
            [node], self.name,
            [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
             for name, value in given if int(name[1:]) not in self.fixed],
            [onnx.ValueInfoProto(name=name) for name in made],
            [numpy_helper.from_array(value, name) for name, value in given if int(name[1:]) in self.fixed])
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", self.opset)])

    def feeds(self):
        return {f"i{index}": value for index, value in enumerate(self.inputs) if value is not None and index not in self.fixed}


class Chain(Case):
    """Several nodes, `i0` to `o0`."""

    def __init__(self, name, nodes, inputs, **options):
        super().__init__(name, "+".join(node.op_type for node in nodes), inputs, **options)
        self.nodes = nodes

    def model(self):
        model = super().model()
        del model.graph.node[:]
        model.graph.node.extend(self.nodes)
        return model


def selection_cases():
    ties = numpy.array([3, NAN, 1, 3, NAN, -0.0, 0.0, 1, 3], numpy.float32)
    rows = numpy.array([[1, 2], [0, 5], [1, 2], [1, 1], [0, 5]], numpy.float32)
    yield Case("nonzero_nan_and_zeros", "NonZero", [numpy.array([[0, NAN, -0.0], [2, 0, -1]], numpy.float32)])
    yield Case("nonzero_none", "NonZero", [numpy.zeros((3, 4), numpy.int32)])
    yield Case("nonzero_all", "NonZero", [numpy.ones((2, 3, 2), bool)])
    yield Case("nonzero_scalar", "NonZero", [numpy.float32(5)], expected=[numpy.zeros((0, 1), numpy.int64)])
    yield Case("nonzero_empty", "NonZero", [numpy.zeros((0, 3), numpy.float32)], expected=[numpy.zeros((2, 0), numpy.int64)])
    yield Case("nonzero_large", "NonZero", [RANDOM.integers(0, 3, (50, 70)).astype(numpy.int64)])
    flags = numpy.array([True, False, True, True])
    for axis in (0, 1, -1, None):
        attributes = {} if axis is None else {"axis": axis}
        yield Case(f"compress_{axis}", "Compress", [floats(4, 5), flags], **attributes)
    yield Case("compress_nothing", "Compress", [floats(4, 5), numpy.zeros(4, bool)], axis=0)
    for is_sorted in (0, 1):
        values, first, inverse, counts = unique(ties, is_sorted)
        yield Case(f"unique_{is_sorted}", "Unique", [ties], 4, sorted=is_sorted, expected=[values, first, inverse, counts])
        for axis in (0, 1, -1):
            yield Case(f"unique_{is_sorted}_axis_{axis}", "Unique", [rows if axis == 0 else rows.T.copy()], 4, sorted=is_sorted, axis=axis)
        yield Case(f"unique_many_columns_{is_sorted}", "Unique", [RANDOM.integers(0, 2, (40, 6)).astype(numpy.int64)], 4,
                   sorted=is_sorted, axis=0)
    boxes = RANDOM.uniform(0, 1, (2, 30, 4)).astype(numpy.float32)
    scores = RANDOM.uniform(0, 1, (2, 3, 30)).astype(numpy.float32)
    scores[0, 0, 4] = scores[0, 0, 9]
    limits = [integers(6), numpy.array([0.3], numpy.float32), numpy.array([0.2], numpy.float32)]
    for centered in (0, 1):
        yield Case(f"nms_{centered}", "NonMaxSuppression", [boxes, scores, *limits], center_point_box=centered)
        yield Case(f"nms_fixed_{centered}", "NonMaxSuppression", [boxes, scores, *limits], fixed=(2, 3, 4), center_point_box=centered)
    yield Case("nms_no_score_threshold", "NonMaxSuppression", [boxes, scores, *limits[:2]])
    yield Case("nms_nothing", "NonMaxSuppression", [boxes, scores], expected=[numpy.zeros((0, 3), numpy.int64)])
    yield Case("nms_many", "NonMaxSuppression", [boxes, scores, integers(1 << 40), *limits[1:]])
    yield Case("topk_of_data", "TopK", [floats(3, 8), integers(3)], 2)
    yield Case("topk_of_data_smallest", "TopK", [floats(8, 3), integers(8)], 2, axis=0, largest=0)
    for start, end, step in ((1, 5, 1), (-3, 100, 1), (-100, -2, 2), (6, 0, -2), (100, -100, -3), (5, 2, 1), (-1, -100, -1)):
        yield Case(f"slice_{start}_{end}_{step}", "Slice", [floats(4, 7), integers(start), integers(end), integers(1), integers(step)], fixed=(3, 4))
    yield Case("slice_limits", "Slice", [floats(4, 7), integers(-(1 << 62), 2), integers((1 << 62), 1 << 62)])
    for start, limit, delta in ((0, 10, 3), (10, 0, -3), (0, 10, -1), (3, 3, 1), (-5, 7, 4)):
        yield Case(f"range_{start}_{limit}_{delta}", "Range", [numpy.int64(start), numpy.int64(limit), numpy.int64(delta)])
    yield Case("range_float", "Range", [numpy.float32(0.5), numpy.float32(3.1), numpy.float32(0.3)])
    for shape in ((3, 0, 2), (3, 4, 2), (2, 1, 3, 2), ()):
        yield Case(f"constant_of_shape_{len(shape)}_{int(numpy.prod(shape))}", "ConstantOfShape", [integers(*shape)])
    made = helper.make_node("ConstantOfShape", ["i0"], ["t"]), helper.make_node("ReduceSum", ["t"], ["s"], keepdims=0), helper.make_node(
        "Add", ["t", "s"], ["u"]), helper.make_node("CumSum", ["u", "i1"], ["o0"])
    yield Chain("constant_of_shape_within", made, [integers(3, 5, 2), numpy.int64(1)], fixed=(1,))
    yield Case("one_hot", "OneHot", [integers(0, 3, -1, -4, 7), integers(4), floats(2)])


def unique(x, is_sorted):
    """numpy.unique, whose NaNs are one value; in the order of first occurrence where not sorted."""
    values, first, inverse, counts = numpy.unique(x, return_index=True, return_inverse=True, return_counts=True)
    if not is_sorted:
        order = numpy.argsort(first, kind="stable")
        back = numpy.argsort(order, kind="stable")
        values, first, counts, inverse = values[order], first[order], counts[order], back[inverse]
    return x[first], first.astype(numpy.int64), inverse.astype(numpy.int64), counts.astype(numpy.int64)


def sampling_cases():
    image = floats(2, 3, 5, 7)
    grid = RANDOM.uniform(-1.6, 1.6, (2, 4, 6, 2)).astype(numpy.float32)
    grid[0, 0, 0] = [-1, 1]
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (0, 1):
                yield Case(f"grid_sample_{mode}_{padding}_{corners}", "GridSample", [image, grid], mode=mode, padding_mode=padding,
                           align_corners=corners, tolerance=1e-4)
    for padding in ("zeros", "reflection"):
        volume, points = floats(1, 2, 3, 4, 5), RANDOM.uniform(-1.4, 1.4, (1, 2, 3, 4, 3)).astype(numpy.float32)
        yield Case(f"grid_sample_3d_cubic_{padding}", "GridSample", [volume, points], mode="cubic", padding_mode=padding, tolerance=1e-4,
                   expected=REFERENCE)
    yield Case("grid_sample_1d_cubic", "GridSample", [floats(2, 3, 9), RANDOM.uniform(-1.4, 1.4, (2, 7, 1)).astype(numpy.float32)], mode="cubic",
               tolerance=1e-4, expected=REFERENCE)
    volume, points = floats(1, 2, 3, 4, 5), RANDOM.uniform(-1.4, 1.4, (1, 2, 3, 4, 3)).astype(numpy.float32)
    for mode in ("linear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            yield Case(f"grid_sample_3d_{mode}_{padding}", "GridSample", [volume, points], mode=mode, padding_mode=padding, tolerance=1e-4)
    for corners in (0, 1):
        yield Case(f"affine_grid_{corners}", "AffineGrid", [floats(2, 2, 3), integers(2, 3, 4, 5)], fixed=(1,), align_corners=corners)
        yield Case(f"affine_grid_3d_{corners}", "AffineGrid", [floats(2, 3, 4), integers(2, 3, 4, 5, 3)], fixed=(1,), align_corners=corners)
    regions = numpy.array([[0, 0, 6, 4], [2, 1, 3, 2], [-3, -2, 9, 8], [4, 4, 2, 2], [1.5, 0.5, 5.25, 4.75]], numpy.float32)
    which = integers(0, 1, 1, 0, 1)
    for transform in ("half_pixel", "output_half_pixel"):
        for ratio in (0, 2, 3):
            yield Case(f"roi_align_{transform}_{ratio}", "RoiAlign", [image, regions, which], output_height=3, output_width=2,
                       sampling_ratio=ratio, spatial_scale=0.9, coordinate_transformation_mode=transform, tolerance=1e-4)
    pooled = numpy.concatenate([which[:, None].astype(numpy.float32), numpy.array(
        [[0, 0, 6, 4], [2, 1, 3, 2], [0, 0, 9, 8], [4, 3, 4, 3], [1, 0, 5, 4]], numpy.float32)], axis=1)
    yield Case("max_roi_pool", "MaxRoiPool", [image, pooled], pooled_shape=[3, 2], spatial_scale=0.8)
    yield Case("deform_conv", "DeformConv", [floats(2, 4, 6, 7), floats(6, 2, 3, 3), 0.7 * floats(2, 36, 3, 4), floats(6), floats(2, 18, 3, 4)],
               group=2, offset_group=2, strides=[2, 2], pads=[1, 1, 1, 1], kernel_shape=[3, 3], tolerance=1e-4)
    yield Case("col2im", "Col2Im", [floats(2, 3 * 6, 9), integers(5, 6), integers(2, 3)], fixed=(1, 2), pads=[0, 1, 1, 0],
               strides=[2, 1], dilations=[1, 2])
    yield Case("center_crop_pad", "CenterCropPad", [floats(5, 4, 3), integers(2, 7)], fixed=(1,), axes=[0, -1])


def signal_cases():
    for length in (6, 7, 64, 96, 130, 101):
        signal = floats(2, length, 1)
        yield Case(f"dft_{length}", "DFT", [signal, None, numpy.int64(1)], fixed=(2,), tolerance=1e-4)
        yield Case(f"dft_onesided_{length}", "DFT", [signal, None, numpy.int64(-2)], fixed=(2,), onesided=1, tolerance=1e-4)
        yield Case(f"dft_inverse_{length}", "DFT", [floats(2, length, 2), None, numpy.int64(1)], fixed=(2,), inverse=1, tolerance=1e-4)
    for length in (5, 12):
        yield Case(f"dft_length_{length}", "DFT", [floats(3, 8, 2), numpy.int64(length), numpy.int64(0 if length == 5 else 1)], fixed=(1, 2), tolerance=1e-4)
    spectrum = numpy.stack([floats(2, 5), floats(2, 5)], axis=-1)
    for length in (8, 9):
        expected = numpy.fft.irfft(spectrum[..., 0] + 1j * spectrum[..., 1], n=length, axis=1)[..., None].astype(numpy.float32)
        yield Case(f"irdft_{length}", "DFT", [spectrum, numpy.int64(length), numpy.int64(1)], fixed=(1, 2), inverse=1, onesided=1,
                   expected=[expected], tolerance=1e-4)
    window = numpy.hanning(16).astype(numpy.float32)
    for onesided in (0, 1):
        yield Case(f"stft_{onesided}", "STFT", [floats(2, 100, 1), numpy.int64(8), window], fixed=(1,), onesided=onesided, tolerance=1e-4)
    for operator in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        for periodic in (0, 1):
            yield Case(f"{operator}_{periodic}", operator, [numpy.int64(11)], periodic=periodic)
    yield Case("mel", "MelWeightMatrix", [numpy.int64(12), numpy.int64(64), numpy.int64(8000), numpy.float32(20), numpy.float32(4000)],
               fixed=(0, 1, 2, 3, 4))


def elementwise_cases():
    signed = numpy.array([-7, 7, -7, 7, 0, -8, 6, -6], numpy.int32), numpy.array([3, -3, -3, 3, 5, 8, 4, 4], numpy.int32)
    for fmod in (0, 1):
        yield Case(f"mod_{fmod}", "Mod", list(signed), fmod=fmod)
    yield Case("mod_float", "Mod", [value.astype(numpy.float32) * numpy.float32(0.75) for value in signed], fmod=1)
    minimum = numpy.iinfo(numpy.int32).min
    # The quotient that does not fit wraps around.
    yield Case("div_minimum", "Div", [numpy.array([minimum, 7, -7], numpy.int32), numpy.array([-1, -2, 2], numpy.int32)],
               expected=[numpy.array([minimum, -3, -3], numpy.int32)])
    for direction in ("LEFT", "RIGHT"):
        yield Case(f"shift_{direction}", "BitShift", [numpy.array([1, 200, 255, 3], numpy.uint8), numpy.array([7, 1, 3, 0], numpy.uint8)],
                   direction=direction)
        wide = numpy.array([1, 1 << 63, 5], numpy.uint64), numpy.array([64, 64, 200], numpy.uint64)
        yield Case(f"shift_past_the_width_{direction}", "BitShift", list(wide), direction=direction, expected=[numpy.zeros(3, numpy.uint64)])
    nans = numpy.array([NAN, 1, NAN, -0.0, 0.0, INF], numpy.float32), numpy.array([1, NAN, NAN, 0.0, -0.0, -INF], numpy.float32)
    for operator, numpys in (("Max", numpy.maximum), ("Min", numpy.minimum)):
        yield Case(f"{operator}_nan", operator, list(nans), expected=[numpys(*nans)])
    bounds = numpy.float32(2), numpy.float32(-1)
    yield Case("clip_low_above_high", "Clip", [nans[0], *bounds], opset=13, expected=[numpy.minimum(numpy.maximum(nans[0], bounds[0]), bounds[1])])
    halves = numpy.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, NAN, INF], numpy.float32)
    for operator in ("Round", "Sign", "IsNaN", "IsInf", "Shrink", "ThresholdedRelu", "Celu", "Mish", "HardSwish"):
        yield Case(f"{operator}_edges", operator, [halves if operator not in ("Mish", "HardSwish") else halves[:6]])
    # onnxruntime computes it in single precision.
    wide = numpy.array([-2.5, -0.7, 1 / 3, 0.7, 2 + 1e-12], numpy.float64)
    yield Case("shrink_double", "Shrink", [wide], lambd=0.5, bias=0.25, tolerance=1e-14,
               expected=[numpy.where(wide < -0.5, wide + 0.25, numpy.where(wide > 0.5, wide - 0.25, 0))])
    yield Case("pow_negative_base", "Pow", [numpy.array([-2, -2, 0, 4, NAN], numpy.float32), numpy.array([3, -2, 0, 0.5, 0], numpy.float32)])
    for to in (onnx.TensorProto.FLOAT8E4M3FN, onnx.TensorProto.FLOAT8E5M2):
        for saturate in (0, 1):
            inner = helper.make_node("Cast", ["i0"], ["t"], to=to, saturate=saturate), helper.make_node("Cast", ["t"], ["o0"], to=onnx.TensorProto.FLOAT)
            yield Chain(f"cast_{to}_{saturate}", inner, [numpy.array([500, -1e6, 3.3, -0.01, NAN, 447, 465, 60000], numpy.float32)])


def indexing_cases():
    data = floats(3, 4, 5)
    for axis in (0, -1):
        places = RANDOM.integers(-data.shape[axis], data.shape[axis], (2, 3, 4)).astype(numpy.int64)
        yield Case(f"gather_elements_{axis}", "GatherElements", [data, places], axis=axis)
        for reduction in ("none", "add", "mul", "max", "min"):
            # Without a reduction the places are distinct.
            where = places if reduction != "none" else numpy.broadcast_to(numpy.arange(2 if axis == 0 else 4).reshape(
                (2, 1, 1) if axis == 0 else (1, 1, 4)), (2, 3, 4)).astype(numpy.int64)
            yield Case(f"scatter_elements_{axis}_{reduction}", "ScatterElements", [data, where, floats(2, 3, 4)], axis=axis, reduction=reduction)
    vectors = numpy.array([[[0, 1], [-1, -2]], [[2, 3], [0, 0]]], numpy.int64)
    for reduction in ("none", "add", "mul", "max", "min"):
        yield Case(f"scatter_nd_{reduction}", "ScatterND", [data, vectors, floats(2, 2, 5)], reduction=reduction)
    yield Case("gather_nd_batch", "GatherND", [floats(2, 3, 4, 5), RANDOM.integers(-3, 3, (2, 6, 1)).astype(numpy.int64)], batch_dims=1)
    ties = numpy.array([[2, 5, 5, 1, 5], [7, 7, 7, 7, 7]], numpy.float32)
    for operator in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            yield Case(f"{operator}_{last}", operator, [ties], axis=-1, select_last_index=last, keepdims=0)
    for largest in (0, 1):
        yield Case(f"topk_ties_{largest}", "TopK", [ties, integers(4)], 2, fixed=(1,), largest=largest)
    yield Case("hardmax_ties", "Hardmax", [ties], axis=1)
    for exclusive in (0, 1):
        for reverse in (0, 1):
            yield Case(f"cumsum_{exclusive}_{reverse}", "CumSum", [floats(3, 4), numpy.int64(-2)], fixed=(1,), exclusive=exclusive, reverse=reverse)
    for diagonal in (-9, -1, 0, 2, 9):
        for upper in (0, 1):
            yield Case(f"trilu_{diagonal}_{upper}", "Trilu", [floats(2, 3, 5), numpy.int64(diagonal)], upper=upper)
        yield Case(f"eye_{diagonal}", "EyeLike", [floats(3, 5)], k=diagonal)
    yield Case("reverse_sequence", "ReverseSequence", [floats(4, 3, 2), integers(4, 1, 3)])
    yield Case("tile_nothing", "Tile", [floats(2, 3), integers(0, 2)], fixed=(1,))
    for operator, neutral in (("ReduceSum", 0), ("ReduceProd", 1)):
        yield Case(f"{operator}_of_nothing", operator, [floats(2, 0, 3), integers(1)], fixed=(1,), opset=18, keepdims=0,
                   expected=[numpy.full((2, 3), neutral, numpy.float32)])
    yield Case("reduce_max_of_nothing", "ReduceMax", [floats(2, 0), integers(1)], fixed=(1,), keepdims=0, expected=[numpy.full(2, -INF, numpy.float32)])
    for mode in ("reflect", "edge", "wrap"):
        yield Case(f"pad_{mode}", "Pad", [floats(3, 4), integers(1, 2, 0, -1)], fixed=(1,), mode=mode)


def resize_cases():
    image = floats(1, 2, 6, 7)
    for mode in ("nearest", "linear", "cubic"):
        for transform in ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"):
            for size in ((9, 5), (1, 1), (3, 14)):
                yield Case(f"resize_{mode}_{transform}_{size[0]}x{size[1]}", "Resize", [image, None, None, integers(1, 2, *size)], fixed=(3,), opset=19,
                           mode=mode, coordinate_transformation_mode=transform, tolerance=1e-4)
    for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        yield Case(f"resize_{rounding}", "Resize", [image, None, numpy.array([1, 1, 0.5, 1.5], numpy.float32)], fixed=(2,), opset=19, mode="nearest",
                   nearest_mode=rounding)
    for mode in ("linear", "cubic"):
        yield Case(f"resize_antialias_{mode}", "Resize", [image, None, None, integers(3, 4)], fixed=(3,), opset=19, mode=mode, antialias=1, axes=[2, 3],
                   tolerance=1e-4)
        yield Case(f"resize_exclude_outside_{mode}", "Resize", [image, None, None, integers(1, 2, 9, 4)], fixed=(3,), opset=19, mode="cubic",
                   exclude_outside=1, cubic_coeff_a=-0.5, tolerance=1e-4)
    for policy in ("not_larger", "not_smaller"):
        for mode in ("nearest", "cubic"):
            for transform in ("asymmetric", "align_corners", "half_pixel_symmetric", "half_pixel"):
                if (mode, transform) == ("nearest", "align_corners"):
                    continue  # Whole positions: which of two neighbours is nearest hangs on the last bit.
                yield Case(f"resize_{policy}_{mode}_{transform}", "Resize", [image, None, None, integers(5, 13)], fixed=(3,), opset=19, mode=mode,
                           axes=[2, 3], keep_aspect_ratio_policy=policy, coordinate_transformation_mode=transform, tolerance=1e-4,
                           expected=REFERENCE if transform == "align_corners" else None)
    # The published test resize_downsample_scales_linear_align_corners: the ends of the size before it is rounded, not of the rounded one.
    for mode in ("linear", "cubic"):
        for scales in ((0.6, 0.6), (0.3, 1.9), (2.5, 0.7)):
            yield Case(f"resize_rounded_align_corners_{mode}_{scales[0]}_{scales[1]}", "Resize", [image, None, numpy.array([1, 1, *scales], numpy.float32)],
                       fixed=(2,), opset=19, mode=mode, coordinate_transformation_mode="align_corners", expected=REFERENCE, tolerance=1e-4)
        yield Case(f"resize_{policy}", "Resize", [image, None, None, integers(9, 9)], fixed=(3,), opset=19, mode="linear", axes=[2, 3],
                   keep_aspect_ratio_policy=policy, tolerance=1e-4)


def other_cases():
    for size in (1, 2, 3, 4, 7):
        matrices = floats(2, 3, size, size)
        yield Case(f"det_{size}", "Det", [matrices], expected=[numpy.linalg.det(matrices.astype(numpy.float64)).astype(numpy.float32)], tolerance=1e-4)
    yield Case("det_pivot", "Det", [numpy.array([[0, 2, 0], [3, 0, 0], [0, 0, 5]], numpy.float32)])
    yield Case("det_singular", "Det", [numpy.ones((6, 6), numpy.float32)], tolerance=1e-6)
    words = RANDOM.integers(0, 4, (3, 12)).astype(numpy.int64)
    for mode in ("TF", "IDF", "TFIDF"):
        yield Case(f"tfidf_{mode}", "TfIdfVectorizer", [words], mode=mode, min_gram_length=1, max_gram_length=2, max_skip_count=2,
                   ngram_counts=[0, 3], ngram_indexes=[4, 0, 1, 3, 2], pool_int64s=[1, 2, 3, 1, 2, 3, 3], weights=[0.5, 2, 3, 1, 4])
    for mode in ("TF", "IDF", "TFIDF"):
        yield Case(f"tfidf_gap_{mode}", "TfIdfVectorizer", [words[0]], mode=mode, min_gram_length=2, max_gram_length=2, max_skip_count=5,
                   ngram_counts=[0, 1], ngram_indexes=[2, 5, 0], pool_int64s=[1, 2, 3, 3, 3], weights=[0.5, 2, 3])
    x, places = numpy.arange(1, 5, dtype=numpy.float32).reshape(1, 1, 2, 2), numpy.array([[[[5, 7], [13, 15]]]], numpy.int64)
    yield Case("max_unpool", "MaxUnpool", [x, places], kernel_shape=[2, 2], strides=[2, 2])


def difference(made, expected, tolerance):
    made = numpy.asarray(made)
    if made.shape != expected.shape or made.dtype != expected.dtype:
        return f"{made.dtype} {made.shape}, expected {expected.dtype} {expected.shape}"
    if expected.dtype.kind != "f":
        wrong = made != expected
    else:
        scale = max(1.0, float(numpy.max(numpy.abs(expected[numpy.isfinite(expected)]), initial=0)))
        wrong = ~numpy.isclose(made, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    if not numpy.any(wrong):
        return ""
    place = tuple(int(index) for index in numpy.argwhere(wrong)[0])
    return f"at {place}: {made[place]}, expected {expected[place]}"


def check(weft, case, folder):
    path = os.path.join(folder, case.name + ".onnx")
    model = case.model()
    onnx.save(model, path)
    feeds = case.feeds()
    expected = case.expected
    if expected is REFERENCE:
        expected = ReferenceEvaluator(model).run(None, feeds)
    elif expected is None:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        expected = session.run(None, feeds)
    made = weft_tool.run(weft, path, feeds, case.options)
    for index, value in enumerate(expected):
        wrong = difference(made[f"o{index}"], numpy.asarray(value), case.tolerance)
        if wrong:
            return f"output {index} of the compiled model {wrong}"
    if feeds:
        given = os.path.join(folder, case.name + ".npz")
        numpy.savez(given, **feeds)
        weft_tool.call(weft, "verify", path, "--inputs", given, *case.options)
    return ""


# Cases where onnxruntime is known to be wrong, each with the proof. One that agrees after all is an error: it has to leave this list.
KNOWN_DIFFERENCES = {}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--filter", default="")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    failures, count, known = 0, 0, 0
    for family in (selection_cases, sampling_cases, signal_cases, elementwise_cases, indexing_cases, resize_cases, other_cases):
        for case in family():
            if arguments.filter not in case.name:
                continue
            count += 1
            try:
                wrong = check(os.path.abspath(arguments.weft), case, arguments.folder)
            except weft_tool.WeftError as error:
                wrong = str(error)
            if case.name in KNOWN_DIFFERENCES:
                known += 1
                print(f"known: {case.name} ({case.operator}): {KNOWN_DIFFERENCES[case.name]}")
                wrong = "" if wrong else "agrees, and is listed as one that does not"
            if wrong:
                failures += 1
                print(f"FAILED {case.name} ({case.operator}): {wrong[:2000]}")
    print(f"{count - failures - known} of {count} operators agree, {known} differ as is known")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
