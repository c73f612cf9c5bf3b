// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/eval_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "image/resize.h"
#include "report/page.h"

namespace kaiten::cli {

namespace {

constexpr int kMostSide = 96;  // of a picture in the page, pixels
constexpr std::size_t kMostConfusions = 50;

std::string base64(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; k++) word = word << 8 | (k < left ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; k++) text += k <= left ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// Windows bitmap, 24 bits, the lowest row first.
std::vector<std::uint8_t> bmp_of(const Image& image) {
  std::vector<std::uint8_t> bytes;
  const auto put = [&bytes](std::uint32_t value, int size) {
    for (int k = 0; k < size; k++) bytes.push_back(std::uint8_t(value >> (8 * k)));
  };
  const std::uint32_t line = std::uint32_t(image.width * 3 + 3) / 4 * 4,
                      size = line * std::uint32_t(image.height);
  put(0x4d42, 2), put(54 + size, 4), put(0, 4), put(54, 4), put(40, 4);
  put(std::uint32_t(image.width), 4), put(std::uint32_t(image.height), 4), put(1, 2), put(24, 2), put(0, 4),
      put(size, 4);
  for (int k = 0; k < 4; k++) put(0, 4);
  for (int row = image.height - 1; row >= 0; row--) {
    for (int column = 0; column < image.width; column++) {
      const std::uint8_t* pixel = &image.data[std::size_t((row * image.width + column) * image.channels)];
      for (const int channel : {2, 1, 0}) bytes.push_back(pixel[image.channels == 1 ? 0 : channel]);
    }
    bytes.resize(54 + std::size_t(line) * std::size_t(image.height - row));
  }
  return bytes;
}

std::string class_name(const EvalPage& page, int c) {
  return c >= 0 && std::size_t(c) < page.classes.size() ? page.classes[std::size_t(c)] : std::to_string(c);
}

std::string matrix(const EvalPage& page, const std::set<int>& classes) {
  std::string text =
      "<p>Rows: the class of the image, columns: the best answer.</p>\n<div "
      "class=\"scroll\"><table>\n<tr><th></th>";
  for (const int c : classes)
    text += "<th class=\"n\" scope=\"col\">" + html::escaped(class_name(page, c)) + "</th>";
  text += "</tr>\n";
  for (const int label : classes) {
    text += "<tr><th scope=\"row\">" + html::escaped(class_name(page, label)) + "</th>";
    for (const int best : classes) {
      const auto found = page.counts.find({label, best});
      const std::size_t n = found == page.counts.end() ? 0 : found->second;
      const char* shade = n == 0 ? "n" : label == best ? "n hit" : "n miss";
      text += fmt::format("<td class=\"{}\">{}</td>", shade, n);
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string confusions(const EvalPage& page) {
  std::vector<std::pair<std::size_t, std::pair<int, int>>> wrong;
  for (const auto& [pair, n] : page.counts) {
    if (pair.first != pair.second) wrong.emplace_back(n, pair);
  }
  std::stable_sort(wrong.begin(), wrong.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  html::Table table({"class", "best answer", "#images"});
  for (std::size_t i = 0; i < std::min(wrong.size(), kMostConfusions); i++)
    table.add({class_name(page, wrong[i].second.first), class_name(page, wrong[i].second.second),
               std::to_string(wrong[i].first)});
  return table.text();
}

std::string picture(const Image& image, const std::string& name) {
  if (image.data.empty()) return "";
  Image shown = image;
  if (const int side = std::max(image.width, image.height); side > kMostSide)
    shown = resized(image, std::max(1, image.width * kMostSide / side),
                    std::max(1, image.height * kMostSide / side));
  return fmt::format("<img width=\"64\" alt=\"{}\" src=\"data:image/bmp;base64,{}\">", html::escaped(name),
                     base64(bmp_of(shown)));
}

}  // namespace

std::string to_html(const EvalPage& page) {
  std::string body;
  for (const std::string& sentence : page.summary) body += "<p>" + html::escaped(sentence) + "</p>\n";
  std::set<int> classes;
  std::size_t labelled = 0, wrong = 0;
  for (const auto& [answer, images] : page.counts) {
    classes.insert({answer.first, answer.second});
    labelled += images;
    wrong += answer.first != answer.second ? images : 0;
  }
  if (!classes.empty()) {
    const bool few = classes.size() <= kMostMatrixClasses;
    body += few ? "<h2>Confusion matrix</h2>\n" + matrix(page, classes)
                : "<h2>Most frequent confusions</h2>\n" + confusions(page);
    body +=
        fmt::format("<h2>Images that went wrong</h2>\n<p>{} of {}{}.</p>\n", wrong, labelled,
                    wrong > page.wrong.size() ? fmt::format(", the first {} here", page.wrong.size()) : "");
  }
  if (!page.wrong.empty()) {
    body +=
        "<div class=\"scroll\"><table>\n<tr><th></th><th>image</th><th>class</th><th>best answer</th></tr>\n";
    for (const EvalPage::Wrong& w : page.wrong) {
      body += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                          picture(w.picture, w.name), html::escaped(w.name),
                          html::escaped(class_name(page, w.label)), html::escaped(class_name(page, w.best)));
    }
    body += "</table></div>\n";
  }
  return html::page("Accuracy of " + page.model, body);
}

}  // namespace kaiten::cli
