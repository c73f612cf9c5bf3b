// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Training with activations kept in the host's memory, as the cDMA paper models it (Rhu et al., sections III,
// VI, VII; the policy is vDNN's, which offloads every map). Forward, while a layer is computed, the map it
// reads goes out over the link; the next layer starts when both are done. Backward, while a layer's gradients
// are computed, the map that the layer before it read comes back. A map that several layers read travels
// once, with its last consumer; the parts of a concatenation travel as the whole; the image and the last
// layer's output do not travel. What a transfer takes longer than the computation beside it is a stall.
//
// A compressing DMA makes transfers shorter by the ratio of the map, but reads the raw map from the device's
// memory at no more than a given rate. The ratio is ZVC's limit at the map's density, at least 1 as dense
// windows stay raw.
//
// Times of computation are a roofline: convolutions and fully connected layers take their operations over the
// peak rate times an efficiency, or the traffic of their maps and weights over the memory's bandwidth if that
// is more; a ReLU after them and all other layers take their traffic. Backward costs twice as much, once for
// the first layer.
#ifndef KAITEN_OFFLOAD_OFFLOAD_H
#define KAITEN_OFFLOAD_OFFLOAD_H

#include <string>
#include <vector>

#include "plan/network.h"

namespace kaiten::offload {

struct Device {
  std::string name;
  double operations_per_second = 0;  // peak; a MAC is two
  double bytes_per_second = 0;       // of its memory
};

// "titan-x" (Maxwell) and "titan-xp" (Pascal), the paper's; their data sheets' peak rates in single
// precision.
const std::vector<Device>& devices();

struct Options {
  Device device;
  double efficiency =
      1;  // of the peak rate that convolutions reach; above 1 where an algorithm saves operations
  double link_bytes_per_second = 16e9;       // PCIe gen3, at which the paper evaluates (sections V and VI)
  double compress_bytes_per_second = 200e9;  // raw bytes that the compressing DMA may read (section VI)
  double aware_bytes_per_second = 48e9;      // the same of the bandwidth-aware policy (section V-D)
  int batch = 1;
  int element_bits = 32;
};

// One layer, for the whole batch.
struct Step {
  std::string name;
  double forward_seconds = 0;
  double backward_seconds = 0;
  // The maps that travel with it: raw, and as ZVC makes them. 0 for most layers of a branch.
  double raw_bytes = 0;
  double packed_bytes = 0;
  double elements = 0;
  double coded = 0;  // of them not zero
};

struct Policy {
  std::string name;       // "vdnn": raw; "cdma", "cdma-aware": compressed; "oracle": transfers take no time
  double link_bytes = 0;  // one way
  double seconds = 0;     // of a training step
  double stall_seconds = 0;
  std::vector<double> stalls;  // by layer, forward and backward
};

struct Result {
  std::vector<Step> steps;
  std::vector<Policy> policies;  // vdnn, cdma, cdma-aware, oracle

  double raw_bytes() const;
  double density() const;  // of all that travels
  double ratio() const;    // average by bytes, and that of the best layer
  double best_ratio() const;
};

// `density` of each layer's output. Throws InputError where sizes differ.
Result simulate(const plan::Network& network, const std::vector<double>& density, const Options& options);

}  // namespace kaiten::offload

#endif  // KAITEN_OFFLOAD_OFFLOAD_H
