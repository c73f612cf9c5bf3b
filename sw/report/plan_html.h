// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A page for `kaiten plan --html`: the partition drawn over the network, traffic over capacity, roofline and
// energy of all methods. One file of HTML with drawings in SVG; nothing is fetched from anywhere.
#ifndef KAITEN_REPORT_PLAN_HTML_H
#define KAITEN_REPORT_PLAN_HTML_H

#include <string>

#include "report/plan_report.h"

namespace kaiten {

std::string to_html(const PlanReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_PLAN_HTML_H
