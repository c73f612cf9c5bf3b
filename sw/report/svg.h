// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Parts of the self-contained pages that the tool writes: drawings in SVG, text in HTML.
#ifndef KAITEN_REPORT_SVG_H
#define KAITEN_REPORT_SVG_H

#include <string>

namespace kaiten::svg {

constexpr int kWidth = 960;  // of a drawing

// "&lt;" for "<" and so on.
std::string escaped(const std::string& text);
// The i-th of eight colours, repeated.
const char* colour(std::size_t i);
// A drawing kWidth wide that scales with the page.
std::string drawing(int height, const std::string& inside);
std::string text_at(double x, double y, const std::string& text, const char* anchor = "middle");
std::string line(double x1, double y1, double x2, double y2, const char* stroke, double width = 1);
// A filled rectangle; `hint` appears under the mouse.
std::string box(double x, double y, double width, double height, const char* fill,
                const std::string& hint = "");
// A whole page around a body.
std::string page(const std::string& title, const std::string& body);

}  // namespace kaiten::svg

#endif  // KAITEN_REPORT_SVG_H
