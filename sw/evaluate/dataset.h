// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Labelled images: a folder of image files, or a .npz of images and labels.
//   folder   every image file in it and below, in the order of the names. Files in folders directly below it belong to the
//            class that the folder's name says: its number, or its line in the list of labels, or else its place among the folders.
//   .npz     images: the array images, x, x_test, data, or the only one of three or four dimensions, u1 pixels (N x H x W or
//            N x H x W x 1 or 3), or the model's own values. labels: labels, y, y_test, or the only one of N integers.
#ifndef KAITEN_EVALUATE_DATASET_H
#define KAITEN_EVALUATE_DATASET_H

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "evaluate/npz.h"
#include "image/image.h"

namespace kaiten {

constexpr int kNoLabel = -1;

struct Dataset {
  std::vector<std::string> names;            // of the images: paths from the folder, or their numbers
  std::vector<int> labels;                   // kNoLabel where there is none
  std::string label_rule;                    // where labels come from, for reports; empty: none
  std::vector<std::filesystem::path> files;  // of a folder
  Array images;                              // of a .npz

  bool is_folder() const { return !files.empty(); }
  // One image of a .npz: its bytes, and whether they are pixels.
  std::span<const std::uint8_t> bytes_of(std::size_t i) const;
  bool has_pixels() const;
  Image pixels_of(std::size_t i) const;
};

// `labels`: names of the classes, or none. `truth`: a CSV of lines `image,class` for a folder instead of its folders' names, or
// none: the path from the folder, and a number or a line of `labels`; a first line whose class is neither is a heading. Throws
// InputError, also for a set without images.
Dataset read_dataset(const std::filesystem::path& path, std::span<const std::string> labels,
                     const std::filesystem::path& truth = {});

}  // namespace kaiten

#endif  // KAITEN_EVALUATE_DATASET_H
