// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The two files of a bridge (linux_driver/kaiten_bridge.h), made and mapped by the side that has the accelerator.
#ifndef KAITEN_BRIDGE_SHARED_FOLDER_H
#define KAITEN_BRIDGE_SHARED_FOLDER_H

#include <cstdint>
#include <filesystem>

#include "linux_driver/kaiten_bridge.h"

namespace kaiten {

class SharedFolder {
 public:
  // Creates the folder where there is none, and the files; those that an earlier bridge left are taken over. Throws InputError
  // where another bridge works, where other files have the names, or where there is no room.
  SharedFolder(std::filesystem::path folder, std::uint64_t memory_address, std::uint64_t memory_bytes);
  // Removes the files, and the folder if it was made here.
  ~SharedFolder();
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  kaiten_bridge_page& page() const { return *page_; }
  std::uint8_t* memory() const { return memory_; }
  // From here on clients find it.
  void publish();

 private:
  int open_file(const char* name, std::uint64_t bytes);
  void* map(int file, std::uint64_t bytes) const;
  void close_all();

  std::filesystem::path folder_;
  bool made_folder_ = false;
  bool left_ = false;  // the files are an earlier bridge's
  std::uint64_t memory_bytes_;
  int registers_file_ = -1, memory_file_ = -1;
  kaiten_bridge_page* page_ = nullptr;
  std::uint8_t* memory_ = nullptr;
};

}  // namespace kaiten

#endif  // KAITEN_BRIDGE_SHARED_FOLDER_H
