// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "serve/csv.h"
#include "serve/table.h"

namespace kaiten::serve {

namespace {

using Kind = JsonValue::Kind;

const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {"null", "true or false", "a number", "a string", "an array", "an object"};
  return kNames[int(kind)];
}

// Reads members of objects; every mistake has its place.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  const JsonValue& member(const JsonValue& object, const char* name, Kind kind) const {
    const JsonValue* found = object.find(name);
    if (found == nullptr) fail_at(file_, object.at, std::string("expected '") + name + "'");
    return require(*found, kind, name);
  }
  const JsonValue& require(const JsonValue& value, Kind kind, const char* name) const {
    if (value.kind != kind)
      fail_at(file_, value.at,
              std::string("expected ") + name_of(kind) + " for '" + name + "', found " + name_of(value.kind));
    return value;
  }
  void only(const JsonValue& object, std::initializer_list<const char*> names) const {
    for (const JsonValue::Member& m : object.members) {
      if (std::none_of(names.begin(), names.end(), [&](const char* n) { return m.name == n; }))
        fail_at(file_, m.at, "unknown name '" + m.name + "'");
    }
  }
  std::vector<double> numbers(const JsonValue& array, const char* name) const {
    std::vector<double> out;
    for (const JsonValue& v : array.items) out.push_back(require(v, Kind::kNumber, name).number);
    return out;
  }
  std::vector<int> code(const JsonValue& object) const {
    std::vector<int> out;
    for (const JsonValue& v : member(object, "code", Kind::kArray).items) {
      const double n = require(v, Kind::kNumber, "code").number;
      if (!(n >= 0 && n <= kMostExtent) || n != double(int(n)))
        fail_at(file_, v.at,
                "code: limit: whole numbers from 0 to " + std::to_string(kMostExtent) + ", found " + v.text);
      out.push_back(int(n));
    }
    return out;
  }
  // A matrix of one row a SubNet.
  std::vector<double> matrix(const JsonValue& rows, const char* name, std::size_t columns) const {
    std::vector<double> out;
    for (const JsonValue& row : rows.items) {
      const std::vector<double> some = numbers(require(row, Kind::kArray, name), name);
      if (some.size() != columns) {
        fail_at(file_, row.at,
                std::string(name) + ": limit: " + std::to_string(columns) + " entries a row, found " +
                    std::to_string(some.size()));
      }
      out.insert(out.end(), some.begin(), some.end());
    }
    return out;
  }

 private:
  const std::string& file_;
};

nlohmann::ordered_json rows_of(const Table& t, const std::vector<double>& entries) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto columns = std::ptrdiff_t(t.subgraphs.size());
  for (auto at = entries.begin(); at != entries.end(); at += columns)
    rows.push_back(std::vector<double>(at, at + columns));
  return rows;
}

}  // namespace

Table table_of_json(std::string_view text, const std::string& file) {
  const JsonValue root = parse_json(text, file);
  const Reader reader(file);
  reader.require(root, Kind::kObject, "table");
  reader.only(root, {"schema_version", "supernet", "origin", "accuracies", "subnets", "subgraphs",
                     "latency_ms", "weight_bytes", "other_bytes"});
  const JsonValue& version = reader.member(root, "schema_version", Kind::kNumber);
  if (version.number != 1) fail_at(file, version.at, "schema_version: limit: 1, found " + version.text);
  Table t;
  t.supernet = reader.member(root, "supernet", Kind::kString).text;
  t.origin = reader.member(root, "origin", Kind::kString).text;
  t.accuracies = reader.member(root, "accuracies", Kind::kString).text;
  for (const JsonValue& s : reader.member(root, "subnets", Kind::kArray).items) {
    reader.require(s, Kind::kObject, "subnets");
    reader.only(s, {"name", "accuracy", "code"});
    t.subnets.push_back({reader.member(s, "name", Kind::kString).text,
                         reader.member(s, "accuracy", Kind::kNumber).number, reader.code(s)});
  }
  for (const JsonValue& g : reader.member(root, "subgraphs", Kind::kArray).items) {
    reader.require(g, Kind::kObject, "subgraphs");
    reader.only(g, {"name", "load_ms", "bytes", "code"});
    t.subgraphs.push_back({reader.member(g, "name", Kind::kString).text,
                           reader.member(g, "load_ms", Kind::kNumber).number,
                           reader.member(g, "bytes", Kind::kNumber).number, reader.code(g)});
  }
  t.latency_ms =
      reader.matrix(reader.member(root, "latency_ms", Kind::kArray), "latency_ms", t.subgraphs.size());
  t.weight_bytes =
      reader.matrix(reader.member(root, "weight_bytes", Kind::kArray), "weight_bytes", t.subgraphs.size());
  t.other_bytes = reader.numbers(reader.member(root, "other_bytes", Kind::kArray), "other_bytes");
  check(t, file);
  return t;
}

std::string table_json(const Table& t) {
  nlohmann::ordered_json json = {{"schema_version", 1},
                                 {"supernet", t.supernet},
                                 {"origin", t.origin},
                                 {"accuracies", t.accuracies},
                                 {"subnets", nlohmann::ordered_json::array()},
                                 {"subgraphs", nlohmann::ordered_json::array()},
                                 {"latency_ms", rows_of(t, t.latency_ms)},
                                 {"weight_bytes", rows_of(t, t.weight_bytes)},
                                 {"other_bytes", t.other_bytes}};
  for (const TableSubNet& s : t.subnets)
    json["subnets"].push_back({{"name", s.name}, {"accuracy", s.accuracy}, {"code", s.code}});
  for (const TableSubGraph& g : t.subgraphs)
    json["subgraphs"].push_back(
        {{"name", g.name}, {"load_ms", g.load_ms}, {"bytes", g.bytes}, {"code", g.code}});
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

Table table_of_csv(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  std::vector<std::string_view> fields;
  Table t;
  t.supernet = file;
  t.origin = "latencies of " + file;
  t.accuracies = "those of " + file;
  if (!csv.next(fields) || fields.size() < 3 || fields[0] != "subnet" || fields[1] != "accuracy")
    csv.fail("expected the heading 'subnet,accuracy,SUBGRAPH,...'");
  for (std::size_t j = 2; j < fields.size(); j++) t.subgraphs.push_back({std::string(fields[j]), 0, 0, {}});
  while (csv.next(fields)) {
    if (fields.size() != t.subgraphs.size() + 2)
      csv.fail("limit: " + std::to_string(t.subgraphs.size() + 2) + " fields, found " +
               std::to_string(fields.size()));
    t.subnets.push_back({std::string(fields[0]), csv.number(fields, 1, "accuracy"), {}});
    for (std::size_t j = 2; j < fields.size(); j++)
      t.latency_ms.push_back(csv.number(fields, j, t.subgraphs[j - 2].name));
  }
  check(t, file);
  return t;
}

}  // namespace kaiten::serve
