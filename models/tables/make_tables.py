#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the layer tables of this folder, from the figures of the papers that define the networks.

usage: models/tables/make_tables.py [--check]     --check: compare only, exit code 1 where a file differs

Format: docs/compiler/planning.md, "Layer tables". Residual shortcuts are `add` edges, so that projections are implied and their weights not
counted. Activations and normalisations leave no trace. `classifier` names the first layer of the head that analytic mode leaves
out, as Occam does; fully connected layers it leaves out anyway."""
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Table:
    def __init__(self, name, side):
        self.name, self.side = name, side
        self.layers, self.classifier = [], None

    def add(self, name, op, **fields):
        self.layers.append({"name": name, "op": op, **fields})
        return name

    def window(self, name, op, kernel, stride, pad, **fields):
        pads = [pad] * 4 if isinstance(pad, int) else list(pad)
        return self.add(name, op, kernel=[kernel, kernel], stride=[stride, stride], pad=pads, **fields)

    def conv(self, name, kernel, channels, stride=1, pad=None, **fields):
        return self.window(name, "conv", kernel, stride, kernel // 2 if pad is None else pad, channels=channels, **fields)

    def depthwise(self, name, kernel, stride=1, **fields):
        return self.window(name, "depthwise", kernel, stride, kernel // 2, **fields)

    def pool(self, name, kernel, stride, pad=0, **fields):
        return self.window(name, "pool", kernel, stride, pad, **fields)

    def head(self, channels, name="pool"):
        """Global average pooling and a fully connected layer."""
        self.classifier = self.add(name, "global_pool")
        self.add("fc", "fc", channels=channels)

    def text(self):
        lines = [json.dumps(l) for l in self.layers]
        head = {"name": self.name, "input": {"height": self.side, "width": self.side, "channels": 3}}
        if self.classifier:
            head["classifier"] = self.classifier
        return json.dumps(head)[:-1] + ',\n "layers": [\n  ' + ",\n  ".join(lines) + "]}\n"


def alexnet():
    """Krizhevsky et al., ImageNet Classification with Deep Convolutional Neural Networks, 2012. The 224 of the text is 227."""
    t = Table("AlexNet", 227)
    t.conv("conv1", 11, 96, 4, 0)
    t.pool("pool1", 3, 2)
    t.conv("conv2", 5, 256, groups=2)
    t.pool("pool2", 3, 2)
    t.conv("conv3", 3, 384)
    t.conv("conv4", 3, 384, groups=2)
    t.conv("conv5", 3, 256, groups=2)
    t.pool("pool5", 3, 2)
    for i, channels in enumerate((4096, 4096, 1000)):
        t.add(f"fc{6 + i}", "fc", channels=channels)
    return t


def zfnet():
    """Zeiler and Fergus, Visualizing and Understanding Convolutional Networks, 2013, figure 3."""
    t = Table("ZFNet", 224)
    after = (0, 1, 0, 1)
    t.conv("conv1", 7, 96, 2, 1)
    t.pool("pool1", 3, 2, after)
    t.conv("conv2", 5, 256, 2, 0)
    t.pool("pool2", 3, 2, after)
    t.conv("conv3", 3, 384)
    t.conv("conv4", 3, 384)
    t.conv("conv5", 3, 256)
    t.pool("pool5", 3, 2)
    for i, channels in enumerate((4096, 4096, 1000)):
        t.add(f"fc{6 + i}", "fc", channels=channels)
    return t


def vgg(depth, counts):
    """Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, 2014, table 1."""
    t = Table(f"VGG-{depth}", 224)
    for stage, (count, channels) in enumerate(zip(counts, (64, 128, 256, 512, 512)), 1):
        for i in range(1, count + 1):
            t.conv(f"conv{stage}_{i}", 3, channels)
        t.pool(f"pool{stage}", 2, 2)
    for i, channels in enumerate((4096, 4096, 1000)):
        t.add(f"fc{6 + i}", "fc", channels=channels)
    return t


def resnet(depth, blocks, bottleneck):
    """He et al., Deep Residual Learning for Image Recognition, 2015, table 1; the stride of a stage is in its first layer."""
    t = Table(f"ResNet-{depth}", 224)
    t.conv("conv1", 7, 64, 2)
    last = t.pool("pool1", 3, 2, 1)
    for stage, (count, channels) in enumerate(zip(blocks, (64, 128, 256, 512)), 2):
        for i in range(1, count + 1):
            stride = 2 if stage > 2 and i == 1 else 1
            name = f"conv{stage}_{i}"
            if bottleneck:
                t.conv(name + "_a", 1, channels, stride)
                t.conv(name + "_b", 3, channels)
                last = t.conv(name + "_c", 1, 4 * channels, add=last)
            else:
                t.conv(name + "_a", 3, channels, stride)
                last = t.conv(name + "_b", 3, channels, add=last)
    t.head(1000)
    return t


def mobilenet_v1():
    """Howard et al., MobileNets, 2017, table 1."""
    t = Table("MobileNetV1", 224)
    t.conv("conv1", 3, 32, 2)
    rows = [(1, 64), (2, 128), (1, 128), (2, 256), (1, 256), (2, 512)] + [(1, 512)] * 5 + [(2, 1024), (1, 1024)]
    for i, (stride, channels) in enumerate(rows, 2):
        t.depthwise(f"conv{i}_dw", 3, stride)
        t.conv(f"conv{i}_pw", 1, channels)
    t.head(1000)
    return t


def mobilenet_v2():
    """Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, 2018, table 2."""
    t = Table("MobileNetV2", 224)
    last, width = t.conv("conv1", 3, 32, 2), 32
    block = 0
    for factor, channels, count, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                                  (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            block += 1
            stride = first_stride if i == 0 else 1
            if factor != 1:
                t.conv(f"block{block}_expand", 1, width * factor)
            t.depthwise(f"block{block}_dw", 3, stride)
            shortcut = {"add": last} if stride == 1 and width == channels else {}
            last, width = t.conv(f"block{block}_project", 1, channels, **shortcut), channels
    t.conv("conv_last", 1, 1280)
    t.head(1000)
    return t


def divisible(value, by=8):
    rounded = max(by, int(value + by / 2) // by * by)
    return rounded + by if rounded < 0.9 * value else rounded


def mobilenet_v3(size):
    """Howard et al., Searching for MobileNetV3, 2019, tables 1 and 2 (kernel, expansion, channels, squeeze, stride)."""
    large = ((3, 16, 16, 0, 1), (3, 64, 24, 0, 2), (3, 72, 24, 0, 1), (5, 72, 40, 1, 2), (5, 120, 40, 1, 1), (5, 120, 40, 1, 1),
             (3, 240, 80, 0, 2), (3, 200, 80, 0, 1), (3, 184, 80, 0, 1), (3, 184, 80, 0, 1), (3, 480, 112, 1, 1),
             (3, 672, 112, 1, 1), (5, 672, 160, 1, 2), (5, 960, 160, 1, 1), (5, 960, 160, 1, 1))
    small = ((3, 16, 16, 1, 2), (3, 72, 24, 0, 2), (3, 88, 24, 0, 1), (5, 96, 40, 1, 2), (5, 240, 40, 1, 1), (5, 240, 40, 1, 1),
             (5, 120, 48, 1, 1), (5, 144, 48, 1, 1), (5, 288, 96, 1, 2), (5, 576, 96, 1, 1), (5, 576, 96, 1, 1))
    t = Table(f"MobileNetV3-{size}", 224)
    last, width = t.conv("conv1", 3, 16, 2), 16
    for block, (kernel, expansion, channels, squeeze, stride) in enumerate(large if size == "Large" else small, 1):
        if expansion != width:
            t.conv(f"block{block}_expand", 1, expansion)
        wide = t.depthwise(f"block{block}_dw", kernel, stride)
        if squeeze:
            t.add(f"block{block}_squeeze", "global_pool")
            t.conv(f"block{block}_reduce", 1, divisible(expansion / 4))
            gate = t.conv(f"block{block}_gate", 1, expansion)
            t.add(f"block{block}_excite", "mul", **{"from": [wide, gate]})
        shortcut = {"add": last} if stride == 1 and width == channels else {}
        last, width = t.conv(f"block{block}_project", 1, channels, **shortcut), channels
    t.conv("conv_last", 1, 960 if size == "Large" else 576)
    t.classifier = t.add("pool", "global_pool")
    t.conv("conv_head", 1, 1280 if size == "Large" else 1024)
    t.add("fc", "fc", channels=1000)
    return t


def densenet121():
    """Huang et al., Densely Connected Convolutional Networks, 2016, table 1, growth 32."""
    t = Table("DenseNet-121", 224)
    t.conv("conv1", 7, 64, 2)
    last, width = t.pool("pool1", 3, 2, 1), 64
    for block, count in enumerate((6, 12, 24, 16), 1):
        for i in range(1, count + 1):
            t.conv(f"dense{block}_{i}_a", 1, 128)
            new = t.conv(f"dense{block}_{i}_b", 3, 32)
            last, width = t.add(f"dense{block}_{i}", "concat", **{"from": [last, new]}), width + 32
        if block < 4:
            width //= 2
            t.conv(f"transition{block}", 1, width)
            last = t.pool(f"transition{block}_pool", 2, 2)
    t.head(1000)
    return t


def googlenet():
    """Szegedy et al., Going Deeper with Convolutions, 2014, table 1."""
    t = Table("GoogLeNet", 224)
    after = (0, 1, 0, 1)
    t.conv("conv1", 7, 64, 2)
    t.pool("pool1", 3, 2, after)
    t.conv("conv2_reduce", 1, 64)
    t.conv("conv2", 3, 192)
    last = t.pool("pool2", 3, 2, after)
    modules = (("3a", 64, 96, 128, 16, 32, 32), ("3b", 128, 128, 192, 32, 96, 64), None, ("4a", 192, 96, 208, 16, 48, 64),
               ("4b", 160, 112, 224, 24, 64, 64), ("4c", 128, 128, 256, 24, 64, 64), ("4d", 112, 144, 288, 32, 64, 64),
               ("4e", 256, 160, 320, 32, 128, 128), None, ("5a", 256, 160, 320, 32, 128, 128), ("5b", 384, 192, 384, 48, 128, 128))
    stage = 3
    for module in modules:
        if module is None:
            last = t.pool(f"pool{stage}", 3, 2, after)
            stage += 1
            continue
        name, one, reduce3, three, reduce5, five, pooled = module
        parts = [t.conv(f"{name}_1x1", 1, one, **{"from": last})]
        t.conv(f"{name}_3x3_reduce", 1, reduce3, **{"from": last})
        parts.append(t.conv(f"{name}_3x3", 3, three))
        t.conv(f"{name}_5x5_reduce", 1, reduce5, **{"from": last})
        parts.append(t.conv(f"{name}_5x5", 5, five))
        t.pool(f"{name}_pool", 3, 1, 1, **{"from": last})
        parts.append(t.conv(f"{name}_pool_project", 1, pooled))
        last = t.add(f"{name}", "concat", **{"from": parts})
    t.head(1000)
    return t


def inception_v3():
    """Szegedy et al., Rethinking the Inception Architecture for Computer Vision, 2015, table 1 and figures 5 to 7, 10; the widths inside
    the modules, which the paper leaves out, are those of the authors' published model. Without the auxiliary classifier."""
    t = Table("Inception-v3", 299)

    def conv(name, kernel, channels, stride=1, same=True, source=None):
        kernel_h, kernel_w = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        pads = [kernel_h // 2, kernel_h // 2, kernel_w // 2, kernel_w // 2] if same else [0] * 4
        return t.add(name, "conv", kernel=[kernel_h, kernel_w], stride=[stride, stride], pad=pads, channels=channels,
                     **({"from": source} if source else {}))

    def branch(name, source, *layers):
        """A chain of convolutions (kernel, channels)."""
        for i, (kernel, channels) in enumerate(layers):
            last = conv(f"{name}_{i + 1}", kernel, channels, source=None if i else source)
        return last

    conv("conv1", 3, 32, 2, False)
    conv("conv2", 3, 32, same=False)
    conv("conv3", 3, 64)
    t.pool("pool1", 3, 2)
    conv("conv4", 1, 80)
    conv("conv5", 3, 192, same=False)
    last = t.pool("pool2", 3, 2)
    for name, pooled in (("5b", 32), ("5c", 64), ("5d", 64)):
        parts = [branch(f"{name}_1x1", last, (1, 64)), branch(f"{name}_5x5", last, (1, 48), (5, 64)),
                 branch(f"{name}_3x3", last, (1, 64), (3, 96), (3, 96))]
        parts.append(branch(f"{name}_project", t.pool(f"{name}_pool", 3, 1, 1, **{"from": last}), (1, pooled)))
        last = t.add(name, "concat", **{"from": parts})
    parts = [conv("6a_3x3", 3, 384, 2, False, last)]
    branch("6a_double", last, (1, 64), (3, 96))
    parts.append(conv("6a_double_3", 3, 96, 2, False))
    parts.append(t.pool("6a_pool", 3, 2, **{"from": last}))
    last = t.add("6a", "concat", **{"from": parts})
    row, column = (1, 7), (7, 1)
    for name, width in (("6b", 128), ("6c", 160), ("6d", 160), ("6e", 192)):
        parts = [branch(f"{name}_1x1", last, (1, 192)), branch(f"{name}_7x7", last, (1, width), (row, width), (column, 192)),
                 branch(f"{name}_double", last, (1, width), (column, width), (row, width), (column, width), (row, 192))]
        parts.append(branch(f"{name}_project", t.pool(f"{name}_pool", 3, 1, 1, **{"from": last}), (1, 192)))
        last = t.add(name, "concat", **{"from": parts})
    branch("7a_3x3", last, (1, 192))
    parts = [conv("7a_3x3_2", 3, 320, 2, False)]
    branch("7a_7x7", last, (1, 192), (row, 192), (column, 192))
    parts.append(conv("7a_7x7_4", 3, 192, 2, False))
    parts.append(t.pool("7a_pool", 3, 2, **{"from": last}))
    last = t.add("7a", "concat", **{"from": parts})
    for name in ("7b", "7c"):
        parts = [branch(f"{name}_1x1", last, (1, 320))]
        split = branch(f"{name}_3x3", last, (1, 384))
        parts += [conv(f"{name}_3x3_row", (1, 3), 384, source=split), conv(f"{name}_3x3_column", (3, 1), 384, source=split)]
        split = branch(f"{name}_double", last, (1, 448), (3, 384))
        parts += [conv(f"{name}_double_row", (1, 3), 384, source=split), conv(f"{name}_double_column", (3, 1), 384, source=split)]
        parts.append(branch(f"{name}_project", t.pool(f"{name}_pool", 3, 1, 1, **{"from": last}), (1, 192)))
        last = t.add(name, "concat", **{"from": parts})
    t.head(1000)
    return t


def overfeat():
    """Sermanet et al., OverFeat: Integrated Recognition, Localization and Detection using Convolutional Networks, 2013, table 1."""
    t = Table("OverFeat", 231)
    t.conv("conv1", 11, 96, 4, 0)
    t.pool("pool1", 2, 2)
    t.conv("conv2", 5, 256, 1, 0)
    t.pool("pool2", 2, 2)
    t.conv("conv3", 3, 512)
    t.conv("conv4", 3, 1024)
    t.conv("conv5", 3, 1024)
    t.pool("pool5", 2, 2)
    for i, channels in enumerate((3072, 4096, 1000)):
        t.add(f"fc{6 + i}", "fc", channels=channels)
    return t


def nin():
    """Lin et al., Network in Network, 2013; the sizes for ImageNet are those of the authors' published model."""
    t = Table("NiN", 224)
    pools = ((0, 1, 0, 1), 0, 0)
    for stage, (kernel, stride, pad, channels) in enumerate(((11, 4, 0, 96), (5, 1, 2, 256), (3, 1, 1, 384), (3, 1, 1, 1024)), 1):
        t.conv(f"conv{stage}", kernel, channels, stride, pad)
        t.conv(f"conv{stage}_a", 1, channels)
        last = stage == 4
        t.conv(f"conv{stage}_b", 1, 1000 if last else channels)
        if not last:
            t.pool(f"pool{stage}", 3, 2, pools[stage - 1])
    t.classifier = t.add("pool4", "global_pool")
    return t


def squeezenet():
    """Iandola et al., SqueezeNet, 2016, table 1."""
    t = Table("SqueezeNet", 227)
    t.conv("conv1", 7, 96, 2, 0)
    last = t.pool("pool1", 3, 2)
    modules = ((2, 16, 64), (3, 16, 64), (4, 32, 128), None, (5, 32, 128), (6, 48, 192), (7, 48, 192), (8, 64, 256), None, (9, 64, 256))
    for module in modules:
        if module is None:
            last = t.pool(f"pool{last[4:]}", 3, 2)
            continue
        number, squeeze, expand = module
        name = f"fire{number}"
        narrow = t.conv(f"{name}_squeeze", 1, squeeze, **{"from": last})
        parts = [t.conv(f"{name}_1x1", 1, expand, **{"from": narrow}), t.conv(f"{name}_3x3", 3, expand, **{"from": narrow})]
        last = t.add(name, "concat", **{"from": parts})
    t.conv("conv10", 1, 1000)
    t.classifier = t.add("pool10", "global_pool")
    return t


TABLES = {
    "alexnet": alexnet(), "zfnet": zfnet(), "overfeat": overfeat(), "nin": nin(), "squeezenet": squeezenet(),
    "vgg16": vgg(16, (2, 2, 3, 3, 3)), "vgg19": vgg(19, (2, 2, 4, 4, 4)),
    "resnet18": resnet(18, (2, 2, 2, 2), False), "resnet34": resnet(34, (3, 4, 6, 3), False),
    "resnet50": resnet(50, (3, 4, 6, 3), True), "resnet101": resnet(101, (3, 4, 23, 3), True),
    "resnet152": resnet(152, (3, 8, 36, 3), True),
    "mobilenet_v1": mobilenet_v1(), "mobilenet_v2": mobilenet_v2(),
    "mobilenet_v3_large": mobilenet_v3("Large"), "mobilenet_v3_small": mobilenet_v3("Small"),
    "densenet121": densenet121(), "googlenet": googlenet(), "inception_v3": inception_v3(),
}


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__.split("\n\n")[1])
    different = []
    for name, table in TABLES.items():
        path, text = os.path.join(FOLDER, name + ".json"), table.text()
        if check:
            if not os.path.exists(path) or open(path).read() != text:
                different.append(name + ".json")
        else:
            with open(path, "w") as f:
                f.write(text)
    if different:
        sys.exit("differ from make_tables.py: " + ", ".join(different))


if __name__ == "__main__":
    main()
