// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a training step of a network holds and computes on one device, layer by layer: times of the forward and the backward
// pass, the maps that are held for the backward pass, the gradients beside them, the weights.
//
// Held are the maps whose values a gradient reads: the inputs of convolutions, fully connected layers and products; inputs
// and outputs of pooling; the outputs of layers with a ReLU (its gradient; all convolutions and fully connected layers but
// the last). As an option, networks with batch normalisation hold each convolution's own output besides, before the
// normalisation. A map that no gradient reads lives until its last consumer of the forward pass. A ReLU works in place, both ways: in the
// backward pass a convolution's output is freed before the gradient of its input is allocated.
//
// Times are a roofline: operations over the device's peak rate, or traffic over its memory's bandwidth if that is more,
// over a calibrated efficiency; backward twice as much, once for the first layer.
#ifndef KAITEN_SWAP_TRAINING_H
#define KAITEN_SWAP_TRAINING_H

#include <string>
#include <vector>

#include "plan/network.h"
#include "swap/machine.h"

namespace kaiten::swap {

struct Step {
  std::string name;
  double forward_seconds = 0;
  double backward_seconds = 0;
  double weight_bytes = 0;          // as many of its gradient
  double gradient_bytes = 0;        // gradients of maps that its backward pass allocates
  double gradient_freed = 0;        // and those that are done with it: its output's
  bool output_freed_first = false;  // before the gradients are allocated
};

struct HeldMap {
  std::string name;
  double bytes = 0;       // in the device's memory, with overhead
  double wire_bytes = 0;  // over links and in the host's memory
  int producer = 0;       // layer
  int last_forward = 0;   // last layer that reads it forward, or its producer
  int first_backward =
      -1;  // the first layer in the backward pass, so the highest, whose gradient reads it; -1: none
  int last_backward = -1;  // the last one
  bool feeds_convolution = false;
};

struct Training {
  std::string network;
  int batch = 1;
  std::vector<Step> steps;
  std::vector<HeldMap> maps;  // by producer
  double input_bytes = 0;     // of the images, held for the first layer's gradient
  double weight_bytes = 0;    // of all layers

  double held_bytes() const;  // of all maps that wait for the backward pass, on the wire
};

struct TrainingOptions {
  int batch = 1;
  int element_bits = 32;
  double map_overhead = 1;
  bool normalised = false;     // batch normalisation after every convolution
  bool hold_raw = false;       // and its input is held
  std::vector<double> ratios;  // of compression, by layer; empty: none
};

// The published networks of the layer tables with batch normalisation.
bool is_normalised(const std::string& network);

Training training_of(const plan::Network& network, const Device& device, const TrainingOptions& options);

}  // namespace kaiten::swap

#endif  // KAITEN_SWAP_TRAINING_H
