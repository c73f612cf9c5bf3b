// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What model files say of pixels and classes: files written here field by field, by the generated builders, and damaged ones.
// Appended archives: tests/cli/metadata_test.py, with Python's zipfile.

#include "metadata/metadata.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "import/signatures.h"
#include "metadata/archive.h"
#include "metadata/labels.h"
#include "onnx_extras.pb.h"
#include "tests/support/byte_flips.h"
#include "tests/support/seed.h"
#include "tflite_extras_generated.h"

namespace kaiten {
namespace {

namespace fb = flatbuffers;
namespace extras = tflite_extras;
using Bytes = std::vector<std::uint8_t>;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

Bytes bytes_of(const fb::FlatBufferBuilder& b) {
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

// TFLITE_METADATA with one input of this normalisation, and labels in a file that no archive has.
Bytes metadata_buffer(const std::vector<float>& mean, const std::vector<float>& std) {
  fb::FlatBufferBuilder b;
  const auto unit =
      extras::CreateProcessUnit(b, extras::ProcessUnitOptions::NormalizationOptions,
                                extras::CreateNormalizationOptionsDirect(b, &mean, &std).Union());
  const std::vector<fb::Offset<extras::ProcessUnit>> units{unit};
  const std::vector<fb::Offset<extras::TensorMetadata>> inputs{extras::CreateTensorMetadataDirect(b, &units)};
  const std::vector<fb::Offset<extras::AssociatedFile>> files{extras::CreateAssociatedFileDirect(
      b, "labels.txt", std::int8_t(extras::AssociatedFileType::TENSOR_AXIS_LABELS))};
  const std::vector<fb::Offset<extras::TensorMetadata>> outputs{
      extras::CreateTensorMetadataDirect(b, nullptr, &files)};
  const std::vector<fb::Offset<extras::SubGraphMetadata>> graphs{
      extras::CreateSubGraphMetadataDirect(b, &inputs, &outputs)};
  b.Finish(extras::CreateModelMetadataDirect(b, &graphs), "M001");
  return bytes_of(b);
}

Bytes model_with(const Bytes& metadata) {
  fb::FlatBufferBuilder b;
  const std::vector<fb::Offset<extras::Buffer>> buffers{extras::CreateBuffer(b),
                                                        extras::CreateBufferDirect(b, &metadata)};
  const std::vector<fb::Offset<extras::Metadata>> entries{
      extras::CreateMetadataDirect(b, "min_runtime_version", 0),
      extras::CreateMetadataDirect(b, "TFLITE_METADATA", 1)};
  const std::vector<fb::Offset<extras::TensorMap>> inputs{extras::CreateTensorMapDirect(b, "image", 3)};
  const std::vector<fb::Offset<extras::TensorMap>> outputs{extras::CreateTensorMapDirect(b, "scores", 7),
                                                           extras::CreateTensorMapDirect(b, "boxes", 5)};
  const std::vector<fb::Offset<extras::SignatureDef>> signatures{
      extras::CreateSignatureDefDirect(b, &inputs, &outputs, "serving_default"),
      extras::CreateSignatureDefDirect(b, &inputs, &outputs, "of_another_graph", 1)};
  b.Finish(extras::CreateModelDirect(b, &buffers, &entries, &signatures), "TFL3");
  return bytes_of(b);
}

TEST(TfliteMetadata, Normalisation) {
  const ModelMetadata one = tflite_metadata(model_with(metadata_buffer({127.5F}, {64})));
  EXPECT_EQ(one.mean, Numbers{127.5});
  EXPECT_EQ(one.scale, Numbers{1.0 / 64});
  EXPECT_FALSE(one.is_bgr);
  const ModelMetadata three = tflite_metadata(model_with(metadata_buffer({1, 2, 3}, {4, 8, 16})));
  EXPECT_EQ(three.mean, (Numbers{1, 2, 3}));
  EXPECT_EQ(three.scale, (Numbers{0.25, 0.125, 0.0625}));
}

TEST(TfliteMetadata, NotesWhatItLeavesOut) {
  const float infinite = std::numeric_limits<float>::infinity();
  for (const auto& [mean, std] : std::vector<std::pair<std::vector<float>, std::vector<float>>>{
           {{0}, {0}}, {{infinite}, {1}}, {{1, 2}, {1}}, {{}, {}}, {{1}, {1, 0, 1}}}) {
    const ModelMetadata found = tflite_metadata(model_with(metadata_buffer(mean, std)));
    EXPECT_TRUE(found.mean.empty());
    EXPECT_TRUE(found.scale.empty());
    ASSERT_EQ(found.notes.size(), 2U);  // and the labels
    EXPECT_TRUE(found.notes.front().starts_with("normalisation left out: ")) << found.notes.front();
    EXPECT_EQ(found.notes.back(), "labels 'labels.txt' left out: no archive stands behind the model");
  }
  Bytes other = metadata_buffer({0}, {1});
  other[4] = 'X';  // identifier
  EXPECT_EQ(tflite_metadata(model_with(other)).notes,
            Names{"TFLITE_METADATA left out: truncated or corrupt"});
  EXPECT_TRUE(tflite_metadata({}).notes.empty());
  EXPECT_TRUE(tflite_metadata(Bytes(64, 'x')).notes.empty());
}

TEST(TfliteMetadata, OtherProcessUnitsArePassedOver) {
  fb::FlatBufferBuilder b;
  // As of a threshold: a table whose first field is a float.
  const auto start = b.StartTable();
  b.AddElement<float>(4, 0.5F, 0);
  const fb::Offset<void> threshold(b.EndTable(start));
  const std::vector<float> mean{9}, std{2};
  const std::vector<fb::Offset<extras::ProcessUnit>> units{
      extras::CreateProcessUnit(b, extras::ProcessUnitOptions(3), threshold),
      extras::CreateProcessUnit(b, extras::ProcessUnitOptions::NormalizationOptions,
                                extras::CreateNormalizationOptionsDirect(b, &mean, &std).Union())};
  const std::vector<fb::Offset<extras::TensorMetadata>> inputs{extras::CreateTensorMetadataDirect(b, &units)};
  const std::vector<fb::Offset<extras::SubGraphMetadata>> graphs{
      extras::CreateSubGraphMetadataDirect(b, &inputs)};
  b.Finish(extras::CreateModelMetadataDirect(b, &graphs), "M001");
  const ModelMetadata found = tflite_metadata(model_with(bytes_of(b)));
  EXPECT_EQ(found.mean, Numbers{9});
  EXPECT_EQ(found.scale, Numbers{0.5});
}

TEST(TfliteMetadata, DamagedFilesNeverThrow) {
  std::mt19937_64 random(test::seed());
  const Bytes file = model_with(metadata_buffer({1, 2, 3}, {4, 5, 6}));
  for (int i = 0; i < 3000; i++) {
    Bytes damaged = test::flip_bytes(file, 1 + random() % 4, random);
    if (i % 3 == 0) damaged.resize(random() % damaged.size());
    EXPECT_NO_THROW(tflite_metadata(damaged));
    EXPECT_NO_THROW(tflite_signatures(damaged));
  }
}

TEST(Signatures, OfTheFirstSubgraph) {
  const auto signatures = tflite_signatures(model_with({1}));
  ASSERT_EQ(signatures.size(), 1U);
  const Signature& s = signatures.at("serving_default");
  EXPECT_EQ(s.inputs, (std::map<std::string, int>{{"image", 3}}));
  EXPECT_EQ(s.outputs, (std::map<std::string, int>{{"boxes", 5}, {"scores", 7}}));
}

ModelMetadata of_properties(const std::vector<std::pair<std::string, std::string>>& properties) {
  onnx_extras::Model model;
  for (const auto& [key, value] : properties) {
    auto* entry = model.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  const std::string text = model.SerializeAsString();
  return onnx_metadata({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// What a pixel becomes, by the rule of the header.
double real_of(const ModelMetadata& m, double pixel, std::size_t c = 0) {
  return (pixel - m.mean.at(c)) * m.scale.at(c);
}

TEST(OnnxMetadata, Ranges) {
  for (const auto& [name, low, high] :
       std::vector<std::tuple<std::string, double, double>>{{"NominalRange_0_255", 0, 255},
                                                            {"Normalized_0_1", 0, 1},
                                                            {"normalized_1_1", -1, 1},
                                                            {"NominalRange_16_235", 16, 235}}) {
    const ModelMetadata m = of_properties({{"image.nominalPixelRange", name}});
    EXPECT_NEAR(real_of(m, 0), low, 1e-9) << name;
    EXPECT_NEAR(real_of(m, 255), high, 1e-9) << name;
  }
  const ModelMetadata unknown = of_properties({{"Image.NominalPixelRange", "0..7"}, {"mean", "1"}});
  EXPECT_TRUE(unknown.mean.empty());
  EXPECT_EQ(unknown.notes.size(), 1U);
}

TEST(OnnxMetadata, MeanAndStdOfARange) {
  const std::vector<double> mean{0.485, 0.456, 0.406}, std{0.229, 0.224, 0.225};
  const ModelMetadata m = of_properties({{"Image.NominalPixelRange", "Normalized_0_1"},
                                         {"mean", "[0.485, 0.456, 0.406]"},
                                         {"std", "0.229,0.224,0.225"}});
  for (std::size_t c = 0; c < 3; c++) {
    for (const double pixel : {0.0, 100.0, 255.0})
      EXPECT_NEAR(real_of(m, pixel, c), (pixel / 255 - mean[c]) / std[c], 1e-9);
  }
  const ModelMetadata plain = of_properties({{"mean", "127.5"}, {"std", "2"}});
  EXPECT_DOUBLE_EQ(real_of(plain, 10), (10 - 127.5) / 2);
  for (const char* wrong : {"0", "x", "1,2", "nan", ""})
    EXPECT_EQ(of_properties({{"std", wrong}}).notes.size(), 1U) << wrong;
}

TEST(OnnxMetadata, BlueFirst) {
  const ModelMetadata m = of_properties({{"Image.BitmapPixelFormat", "BGR8"}, {"mean", "104,117,123"}});
  EXPECT_TRUE(m.is_bgr);
  EXPECT_EQ(m.mean, (Numbers{123, 117, 104}));  // red, green, blue
  EXPECT_EQ(of_properties({{"Image.BitmapPixelFormat", "Rgba8"}}).notes.size(), 1U);
}

TEST(OnnxMetadata, Labels) {
  const ModelMetadata m = of_properties({{"names", "{0: 'cat', 1: \"dog's\"}"}, {"labels", "other"}});
  EXPECT_EQ(m.labels, (Names{"cat", "dog's"}));
  EXPECT_EQ(m.labels_from, "names");
  const ModelMetadata second = of_properties({{"names", "[1]"}, {"classes", "a, b"}});
  EXPECT_EQ(second.labels, (Names{"a", "b"}));
  EXPECT_EQ(second.notes, Names{"'names' left out: no quoted name at character 2"});
}

TEST(Labels, Forms) {
  const Names two{"a b", "c"};
  for (const char* text : {"['a b', 'c']", "[\"a b\",\"c\",]", "{0:'a b',1:'c'}", R"({"0": "a b", "1": "c"})",
                           "a b,c", "a b, c", "a b\nc\n", " a b\r\nc\r\n"})
    EXPECT_EQ(metadata::names_of(text), two) << text;
  EXPECT_EQ(metadata::names_of(R"(['it\'s'])"), Names{"it's"});
  EXPECT_TRUE(metadata::names_of(" \n").empty());
  EXPECT_TRUE(metadata::names_of("{}").empty());
  for (const char* text : {"[", "['a'", "['a' 'b']", "{1:'a'}", "{0:'a',0:'b'}", "['a'] b", "{'a'}", "['a"})
    EXPECT_THROW(metadata::names_of(text), InputError) << text;
  EXPECT_EQ(metadata::lines_of("a\r\n\nb"), (Names{"a", "", "b"}));
}

TEST(Archive, NoneAndDamaged) {
  std::string end("PK\5\6", 4);
  end.resize(22);
  end[12] = 100;  // a directory longer than what is before it
  for (const std::string& text : {std::string("no archive"), std::string("PK\5\6"), end})
    EXPECT_THROW(metadata::entry_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "x"),
                 InputError);
}

}  // namespace
}  // namespace kaiten
