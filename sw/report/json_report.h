// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The reports as JSON values; docs/formats/schemas has a schema for what each command makes of its own.
#ifndef KAITEN_REPORT_JSON_REPORT_H
#define KAITEN_REPORT_JSON_REPORT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kaiten {

struct RunReport;
struct PlanReport;
struct CompressReport;
struct ExploreReport;
struct OffloadReport;
struct RooflineReport;
struct ServeReport;
struct SwapReport;

// Of every report. Keys are added without a new version; one that goes or changes its meaning makes one.
constexpr int kSchemaVersion = 1;

nlohmann::ordered_json json_of(const RunReport& report);
nlohmann::ordered_json json_of(const PlanReport& report);
nlohmann::ordered_json json_of(const CompressReport& report);
nlohmann::ordered_json json_of(const ExploreReport& report);
nlohmann::ordered_json json_of(const OffloadReport& report);
nlohmann::ordered_json json_of(const RooflineReport& report);
nlohmann::ordered_json json_of(const ServeReport& report);
nlohmann::ordered_json json_of(const SwapReport& report);

// Indented, of the first 128 characters alone (a terminal obeys none of it), with a newline at the end. Bytes that are no UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace kaiten

#endif  // KAITEN_REPORT_JSON_REPORT_H
