// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/svg.h"

#include <fmt/format.h>

#include <iterator>

#include "report/page.h"

namespace kaiten::svg {

namespace {

constexpr const char* kColours[] = {"var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)",
                                    "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)"};

// Variables of the page are known in styles, not in all viewers' attributes.
std::string stroked(const char* stroke, double width) {
  return fmt::format("style=\"fill:none;stroke:{};stroke-width:{}\"", stroke, width);
}

std::string filled(const std::string& tag, const std::string& place, const char* fill,
                   const std::string& hint) {
  const std::string shape = fmt::format("<{} {} style=\"fill:{}\"", tag, place, fill);
  return hint.empty() ? shape + "/>"
                      : fmt::format("{}><title>{}</title></{}>", shape, html::escaped(hint), tag);
}

}  // namespace

const char* colour(std::size_t i) { return kColours[i % std::size(kColours)]; }

std::string drawing(int height, const std::string& inside, const std::string& title) {
  return fmt::format(
      "<div class=\"scroll\"><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg></div>\n",
      kWidth, height, html::escaped(title), inside);
}

std::string text_at(double x, double y, const std::string& text, const char* anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     html::escaped(text));
}

std::string upright_text_at(double x, double y, const std::string& text) {
  return fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"end\">{}</text>",
                     x, y, html::escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, const char* stroke, double width) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>", x1, y1, x2, y2,
                     stroked(stroke, width));
}

std::string box(double x, double y, double width, double height, const char* fill, const std::string& hint) {
  return filled(
      "rect",
      fmt::format("x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"", x, y, width, height), fill,
      hint);
}

std::string circle(double x, double y, double radius, const char* fill, const std::string& hint) {
  return filled("circle", fmt::format("cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"", x, y, radius), fill, hint);
}

std::string ring(double x, double y, double radius, const char* colour, const std::string& hint) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" "
      "style=\"fill:{};fill-opacity:.35;stroke:{}\"><title>{}</title></circle>",
      x, y, radius, colour, colour, html::escaped(hint));
}

std::string curve(const std::string& path, const char* stroke, double width) {
  return fmt::format("<path d=\"{}\" {}/>", path, stroked(stroke, width));
}

std::string legend_entry(double x, double y, const char* fill, const std::string& text) {
  return box(x, y, 10, 10, fill) + text_at(x + 14, y + 9, text, "start");
}

}  // namespace kaiten::svg
