// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The page of `kaiten eval`: a confusion matrix, or the confusions that are most frequent where the classes are many, and the
// images that went wrong.
#ifndef KAITEN_CLI_EVAL_PAGE_H
#define KAITEN_CLI_EVAL_PAGE_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "image/image.h"

namespace kaiten::cli {

constexpr std::size_t kMostMatrixClasses = 40;
constexpr std::size_t kMostWrongShown = 100;

// Images of each label and best answer that there are.
using Confusion = std::map<std::pair<int, int>, std::size_t>;

struct EvalPage {
  struct Wrong {
    std::string name;
    int label = 0, best = 0;
    Image picture;  // without data where the set holds no pixels
  };
  std::string model;
  std::vector<std::string> summary;  // sentences
  std::vector<std::string> classes;  // names; those beyond are their numbers
  Confusion counts;                  // of the labelled images
  std::vector<Wrong> wrong;          // the first kMostWrongShown
};

std::string to_html(const EvalPage& page);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_EVAL_PAGE_H
