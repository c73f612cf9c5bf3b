// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Drawings of the pages (page.h) in SVG. Colours are those of the page, light or dark.
#ifndef KAITEN_REPORT_SVG_H
#define KAITEN_REPORT_SVG_H

#include <string>

namespace kaiten::svg {

constexpr int kWidth = 960;  // of a drawing

constexpr const char* kInk = "var(--ink)";    // text and what is drawn like it
constexpr const char* kAxis = "var(--soft)";  // axes, connections
constexpr const char* kRule = "var(--rule)";  // what is there without a meaning of its own
constexpr const char* kGrid = "var(--grid)";

// The i-th of eight colours, repeated.
const char* colour(std::size_t i);
// A drawing kWidth wide that scales with the page; `title` says what it shows to who cannot see it.
std::string drawing(int height, const std::string& inside, const std::string& title);
std::string text_at(double x, double y, const std::string& text, const char* anchor = "middle");
// The same from bottom to top, its end at the place.
std::string upright_text_at(double x, double y, const std::string& text);
std::string line(double x1, double y1, double x2, double y2, const char* stroke, double width = 1);
// A filled rectangle; `hint` appears under the mouse.
std::string box(double x, double y, double width, double height, const char* fill,
                const std::string& hint = "");
std::string circle(double x, double y, double radius, const char* fill, const std::string& hint = "");
// A circle that lets those below it be seen.
std::string ring(double x, double y, double radius, const char* colour, const std::string& hint);
// A line through what `path` says in SVG's words.
std::string curve(const std::string& path, const char* stroke, double width = 1);
// A square of a colour and what it stands for.
std::string legend_entry(double x, double y, const char* fill, const std::string& text);

}  // namespace kaiten::svg

#endif  // KAITEN_REPORT_SVG_H
