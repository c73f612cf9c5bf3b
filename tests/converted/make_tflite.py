#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the .tflite files of this folder: small Keras networks with random weights, as TensorFlow's converter quantises them.

usage: make_tflite.py [NAME ...]
Needs tensorflow-cpu 2.21.0, which Kaiten itself does not; the tests need the files alone. Each network is here for what the
converter makes of it, in the comment before it."""
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf
from keras import layers as L

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(18)


def conv(x, channels, kernel=3, stride=1, activation="relu"):
    x = L.BatchNormalization()(L.Conv2D(channels, kernel, stride, padding="same", use_bias=False)(x))
    return L.Activation(activation)(x)


# Dense on maps: rows of a fully connected layer whose stored shape knows one; normalisation that negates in float32; GELU.
def convnext():
    i = L.Input((32, 32, 3))
    x = L.LayerNormalization(epsilon=1e-6)(L.Conv2D(24, 4, 4)(i))
    y = L.LayerNormalization(epsilon=1e-6)(L.DepthwiseConv2D(7, padding="same")(x))
    x = L.Add()([x, L.Dense(24)(L.Dense(48, activation="gelu")(y))])
    return i, L.Dense(5)(L.GlobalAveragePooling2D()(x))


# Products of two activations, softmax inside, sequences reshaped into heads.
def transformer():
    i = L.Input((32, 32, 3))
    x = L.Dense(16)(L.Reshape((16, 16))(L.Conv2D(16, 8, 8)(i)))
    y = L.LayerNormalization()(x)
    x = L.Add()([x, L.MultiHeadAttention(2, 8)(y, y)])
    x = L.Add()([x, L.Dense(16)(L.Dense(32, activation="gelu")(L.LayerNormalization()(x)))])
    return i, L.Dense(7, activation="softmax")(L.GlobalAveragePooling1D()(x))


# Transposed sequences.
def mixer():
    i = L.Input((32, 32, 3))
    x = L.Reshape((16, 16))(L.Conv2D(16, 8, 8)(i))
    y = L.Permute((2, 1))(L.LayerNormalization()(x))
    x = L.Add()([x, L.Permute((2, 1))(L.Dense(16)(L.Dense(24, activation="gelu")(y)))])
    return i, L.Dense(7)(L.Flatten()(x))


# Means and deviations of groups and of channels.
def group_norm():
    i = L.Input((24, 24, 3))
    x = L.ReLU()(L.GroupNormalization(groups=-1)(L.Conv2D(8, 3, padding="same")(i)))
    x = L.GroupNormalization(groups=4)(L.Conv2D(16, 3, 2)(x))
    return i, L.Conv2D(3, 1, activation="tanh")(L.ReLU()(x))


# Upsampling by TILE of a version that LiteRT 2.3.0 does not know, bilinear, and by a transposed convolution.
def upsampling():
    i = L.Input((32, 32, 3))
    a = conv(i, 8)
    b = conv(L.MaxPooling2D()(a), 12)
    c = conv(L.MaxPooling2D()(b), 16)
    x = L.Concatenate()([L.UpSampling2D()(c), b])
    x = L.Concatenate()([L.UpSampling2D(interpolation="bilinear")(conv(x, 8)), L.Conv2DTranspose(8, 2, 2, padding="same")(b), a])
    return i, L.Conv2D(4, 1, activation="softmax")(x)


# DEPTH_TO_SPACE, likewise.
def pixel_shuffle():
    i = L.Input((24, 24, 1))
    x = L.Conv2D(9, 3, padding="same")(L.Conv2D(16, 5, padding="same", activation="tanh")(i))
    return i, L.Lambda(lambda t: tf.nn.depth_to_space(t, 3), output_shape=(72, 72, 1))(x)


# A detector's head: distributions of distances, softmax and sigmoid inside, lists joined.
def detector():
    i = L.Input((32, 32, 3))
    x = conv(conv(i, 16, 3, 2, "silu"), 24, 3, 2, "silu")
    box = L.Softmax()(L.Reshape((64, 4, 16))(L.Conv2D(64, 1)(x)))
    box = L.Reshape((64, 4))(L.Conv2D(1, 1, use_bias=False)(box))
    return i, L.Concatenate()([box, L.Activation("sigmoid")(L.Reshape((64, 5))(L.Conv2D(5, 1)(x)))])


# Attention to channels and to pixels: means and maxima over channels, maps times pixels and pixels times maps.
def attention():
    i = L.Input((32, 32, 3))
    x = conv(i, 16, 3, 2)
    s = L.Conv2D(16, 1, activation="sigmoid")(L.Conv2D(4, 1, activation="relu")(L.GlobalAveragePooling2D(keepdims=True)(x)))
    x = L.Multiply()([x, s])
    mean = L.Lambda(lambda t: tf.reduce_mean(t, -1, keepdims=True), output_shape=(16, 16, 1))(x)
    largest = L.Lambda(lambda t: tf.reduce_max(t, -1, keepdims=True), output_shape=(16, 16, 1))(x)
    x = L.Multiply()([x, L.Conv2D(1, 7, padding="same", activation="sigmoid")(L.Concatenate()([mean, largest]))])
    return i, L.Dense(10)(L.GlobalMaxPooling2D()(x))


# Channels split, convolved, joined and shuffled.
def shuffle():
    i = L.Input((32, 32, 3))
    x = conv(i, 16, 3, 2)
    for _ in range(2):
        y = conv(L.DepthwiseConv2D(3, padding="same")(conv(x[:, :, :, 8:], 8, 1)), 8, 1)
        x = L.Concatenate()([x[:, :, :, :8], y])
        x = L.Reshape((16, 16, 16))(L.Permute((1, 2, 4, 3))(L.Reshape((16, 16, 2, 8))(x)))
    return i, L.Dense(10)(L.GlobalAveragePooling2D()(x))


# Minima, maxima, differences, cropping, products of all pixels with all.
def pairs():
    i = L.Input((24, 24, 4))
    x = L.Cropping2D(((1, 0), (2, 1)))(L.Conv2D(8, (1, 7))(L.ZeroPadding2D((1, 2))(i)))
    x = L.AveragePooling2D(3, 2, padding="same")(x)
    a = L.Maximum()([x, L.Conv2D(8, 1)(x)])
    d = L.Subtract()([a, L.Average()([a, L.Minimum()([x, a]), x])])
    return i, L.Dot(axes=-1)([L.Reshape((-1, 8))(d), L.Reshape((-1, 8))(x)])


# Recurrent layers, unrolled: constants filled by a shape, more tensors at once than a mask has bits.
def gru():
    i = L.Input((40, 6))
    return i, L.Dense(3)(L.GRU(8, unroll=True)(i))


def lstm():
    i = L.Input((12, 6))
    return i, L.Dense(3)(L.LSTM(8, unroll=True)(i))


# Dilated convolutions of lines, between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND of three dimensions.
def temporal():
    i = x = L.Input((64, 6))
    for dilation in (1, 2, 4):
        x = L.Add()([L.Conv1D(12, 1)(x), L.Conv1D(12, 3, padding="causal", dilation_rate=dilation, activation="relu")(x)])
    x = L.SeparableConv1D(16, 5, activation="relu", padding="same")(L.MaxPooling1D(2)(x))
    return i, L.Dense(5, activation="softmax")(L.GlobalAveragePooling1D()(x))


# Attention within windows: reshapes that make a batch of one image, whose size the file leaves open, and the other way round.
def windows():
    i = L.Input((32, 32, 3))
    x = L.Conv2D(16, 4, 4)(i)
    apart = L.Lambda(lambda t: tf.reshape(tf.transpose(tf.reshape(t, (-1, 2, 4, 2, 4, 16)), [0, 1, 3, 2, 4, 5]), (-1, 16, 16)))
    together = L.Lambda(lambda t: tf.reshape(tf.transpose(tf.reshape(t, (-1, 2, 2, 4, 4, 16)), [0, 1, 3, 2, 4, 5]), (-1, 8, 8, 16)))
    y = apart(L.LayerNormalization()(x))
    x = L.Add()([x, together(L.MultiHeadAttention(2, 8)(y, y))])
    merged = L.Lambda(lambda t: tf.concat([t[:, 0::2, 0::2], t[:, 1::2, 0::2], t[:, 0::2, 1::2], t[:, 1::2, 1::2]], -1))(x)
    return i, L.Dense(5)(L.GlobalAveragePooling2D()(L.Dense(32)(merged)))


# PReLU with slopes of a channel, some negative, and of a cell; minima and maxima with one number.
def landmarks():
    def prelu(axes):
        return L.PReLU(keras.initializers.RandomUniform(-0.4, 0.9), shared_axes=axes)
    i = L.Input((48, 48, 3))
    x = prelu([1, 2])(L.Conv2D(16, 3, 2, padding="same")(i))
    for channels, stride in ((16, 1), (32, 2), (32, 1)):
        y = L.Conv2D(channels, 1)(L.DepthwiseConv2D(5, stride, padding="same")(x))
        if stride == 2:
            x = L.Lambda(lambda t: tf.pad(t, [[0, 0], [0, 0], [0, 0], [0, 16]]))(L.MaxPooling2D()(x))
        x = prelu([1, 2])(L.Add()([x, y]))
    x = L.Lambda(lambda t: tf.minimum(tf.maximum(t, -1.0), 1.5))(L.Conv2D(8, 3, 2)(x))
    return i, L.Dense(12)(L.Flatten()(prelu(None)(L.Conv2D(8, 1)(x))))


NETWORKS = {"attention": "int8", "convnext": "float32", "detector": "int8", "group_norm": "int8", "gru": "int8", "landmarks": "int8",
            "lstm": "int8", "mixer": "uint8", "pairs": "int8", "pixel_shuffle": "int8", "shuffle": "uint8", "temporal": "int8", "transformer": "int8",
            "upsampling": "int8", "windows": "int8"}


def randomise(model):
    """Batch normalisation as after training, not the identity."""
    for layer in model.layers:
        if isinstance(layer, L.BatchNormalization):
            layer.set_weights([rng.uniform(0.6, 1.4, w.shape) if name in ("gamma", "moving_variance") else rng.normal(0, 0.2, w.shape)
                               for w, name in zip(layer.get_weights(), [v.name for v in layer.weights])])


def converted(model, ends):
    """int8 within; its inputs and outputs of type `ends`."""
    randomise(model)
    shape = (1, *model.inputs[0].shape[1:])
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([rng.normal(0.2, 0.6, shape).astype(np.float32)] for _ in range(8))
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.dtypes.as_dtype(ends)
    return converter.convert()


if __name__ == "__main__":
    for name in sys.argv[1:] or NETWORKS:
        keras.utils.set_random_seed(18)
        first, last = globals()[name]()
        (HERE / f"{name}.tflite").write_bytes(converted(keras.Model(first, last), NETWORKS[name]))
