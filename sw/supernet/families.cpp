// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "supernet/families.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/json_text.h"

namespace kaiten::supernet {

namespace {

constexpr const char* kFamilies =
#include "families_json.inc"
    ;
constexpr const char* kMeasured =
#include "measured_csv.inc"
    ;

constexpr int kImage = 224;
constexpr std::array<std::string_view, 3> kNames = {"ofa-resnet50", "ofa-mobilenetv3", "compofa"};
constexpr std::size_t kTerms = 61;  // a constant and three expansions of twenty blocks

using Terms = std::array<double, kTerms>;

Terms terms_of(const MobileNetV3& c) {
  Terms t = {};
  t[0] = 1;
  for (std::size_t stage = 0; stage < MobileNetV3::kStages; stage++) {
    for (std::size_t block = 0; block < std::size_t(c.depth[stage]); block++) {
      const int expand = c.expand[stage][block];
      t[1 + 3 * (4 * stage + block) + (expand == 3 ? 0 : expand == 4 ? 1 : 2)] = 1;
    }
  }
  return t;
}

std::string joined(const JsonValue& stages) {
  std::string out;
  for (const JsonValue& stage : stages.items) {
    if (!out.empty()) out += ',';
    out += stage.text;
  }
  return out;
}

Family from_json(bool resnet) {
  const JsonValue root = parse_json(kFamilies, "families.json");
  const JsonValue& data = *root.find(resnet ? "resnet50" : "mobilenet_v3");
  Family f;
  f.name = resnet ? kNames[0] : kNames[1];
  f.net = resnet ? resnet50_supernet(kImage) : mobilenet_v3_supernet(kImage);
  f.accuracies =
      resnet
          ? "Once-for-All's accuracy predictor, about 2.5 points above ImageNet validation: for ranking only"
          : "ImageNet top-1 measured by gatech-sysml/once-for-all";
  for (const JsonValue& s : data.find("subnets")->items) {
    const std::string& name = s.find("id")->text;
    SubNet subnet{.name = name, .text = {}, .accuracy = 0, .encoding = {}};
    if (resnet) {
      if (name == "base") continue;  // what RA to RF share: not served in the paper
      subnet.text = s.find("depth")->text + ":" + s.find("width")->text + ":" + joined(*s.find("expand"));
      subnet.accuracy = 100 * s.find("predictor")->number;
      subnet.encoding = encode(parse_resnet50(subnet.text));
    } else {
      subnet.text = s.find("depth")->text + ":" + s.find("expand")->text + ":7";
      subnet.accuracy = s.find("top1_percent")->number;
      subnet.encoding = encode(parse_mobilenet_v3(subnet.text));
    }
    f.subnets.push_back(std::move(subnet));
  }
  return f;
}

Family compofa_family() {
  constexpr int kKernel = 7;  // as the measured SubNets have
  Family f{std::string(kNames[2]),
           mobilenet_v3_supernet(kImage),
           {},
           "predicted by least squares from 1,000 SubNets of OFA-MobileNetV3 measured by "
           "gatech-sysml/once-for-all"};
  const AccuracyModel model(measured_mobilenet_v3());
  for (const MobileNetV3& c : compofa(kKernel)) {
    std::string depth, expand;
    for (std::size_t stage = 0; stage < MobileNetV3::kStages; stage++) {
      depth += char('0' + c.depth[stage]);
      for (const int e : c.expand[stage]) expand += char('0' + e);
    }
    std::string code = depth;
    code.append(":").append(expand).append(":7");
    f.subnets.push_back({"C" + depth, code, model.top1(c), encode(c)});
  }
  return f;
}

}  // namespace

std::span<const std::string_view> family_names() { return kNames; }

Family family(std::string_view name) {
  if (name == kNames[0]) return from_json(true);
  if (name == kNames[1]) return from_json(false);
  if (name == kNames[2]) return compofa_family();
  std::string known;
  for (const std::string_view n : kNames) {
    if (!known.empty()) known += ", ";
    known += n;
  }
  throw InputError("SuperNet: limit: one of " + known + ", found '" + std::string(name) + "'");
}

std::vector<Measured> measured_mobilenet_v3() {
  std::vector<Measured> rows;
  std::string_view text = kMeasured;
  text.remove_prefix(text.find('\n') + 1);  // the heading
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    const std::size_t first = line.find(','), second = line.find(',', first + 1);
    const std::string choice = std::string(line.substr(0, first)) + ":" +
                               std::string(line.substr(first + 1, second - first - 1)) + ":7";
    rows.push_back({parse_mobilenet_v3(choice), std::stod(std::string(line.substr(second + 1)))});
  }
  return rows;
}

// Normal equations; the small ridge settles combinations of terms that the rows do not tell apart.
AccuracyModel::AccuracyModel(std::span<const Measured> rows) : terms_(kTerms) {
  constexpr double kRidge = 1e-3;
  std::array<std::array<double, kTerms + 1>, kTerms> m = {};
  for (const Measured& row : rows) {
    const Terms t = terms_of(row.choice);
    for (std::size_t i = 0; i < kTerms; i++) {
      for (std::size_t k = 0; k < kTerms; k++) m[i][k] += t[i] * t[k];
      m[i][kTerms] += t[i] * row.top1;
    }
  }
  for (std::size_t i = 1; i < kTerms; i++) m[i][i] += kRidge;
  for (std::size_t i = 0; i < kTerms; i++) {  // Gauss and Jordan; positive definite, so without pivots
    for (std::size_t r = 0; r < kTerms; r++) {
      if (r == i) continue;
      const double factor = m[r][i] / m[i][i];
      for (std::size_t k = i; k <= kTerms; k++) m[r][k] -= factor * m[i][k];
    }
  }
  for (std::size_t i = 0; i < kTerms; i++) terms_[i] = m[i][kTerms] / m[i][i];
}

double AccuracyModel::top1(const MobileNetV3& choice) const {
  const Terms t = terms_of(choice);
  double sum = 0;
  for (std::size_t i = 0; i < kTerms; i++) sum += terms_[i] * t[i];
  return sum;
}

}  // namespace kaiten::supernet
