// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/svg.h"

#include <fmt/format.h>

#include <iterator>

namespace kaiten::svg {

namespace {

constexpr const char* kColours[] = {"#3b6fb6", "#d1662b", "#3f9a56", "#9a4fa0",
                                    "#b8902a", "#4aa3a8", "#a84a5c", "#6b6b6b"};

constexpr const char* kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1040px;margin:2em auto;padding:0 "
    "1em;color:#222;background:#fff}"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;font-size:13px}"
    "td,th{padding:2px 10px;text-align:right;border-bottom:1px solid "
    "#ddd}td:first-child,th:first-child{text-align:left}"
    "svg{width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:#333}.scroll{overflow-x:auto}";

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

const char* colour(std::size_t i) { return kColours[i % std::size(kColours)]; }

std::string drawing(int height, const std::string& inside) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">{}</svg>\n", kWidth, height, inside);
}

std::string text_at(double x, double y, const std::string& text, const char* anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, const char* stroke, double width) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"/>", x1,
      y1, x2, y2, stroke, width);
}

std::string box(double x, double y, double width, double height, const char* fill, const std::string& hint) {
  const std::string rect =
      fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"", x, y,
                  width, height, fill);
  return hint.empty() ? rect + "/>" : rect + "><title>" + escaped(hint) + "</title></rect>";
}

std::string page(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title) +
         "</title><style>" + kStyle + "</style></head><body>\n" + body + "</body></html>\n";
}

}  // namespace kaiten::svg
