// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Numbers of things that stand in a list, a type for each kind of thing: a view's number is no storage's. IndexedVector is
// the list; it takes no other numbers than its own.
#ifndef KAITEN_BASE_ID_H
#define KAITEN_BASE_ID_H

#include <compare>
#include <cstddef>
#include <utility>
#include <vector>

namespace kaiten {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;  // none
  constexpr explicit Id(std::size_t index) : value_(int(index)) {}

  constexpr bool exists() const { return value_ >= 0; }
  // From 0 on; of an id that exists.
  constexpr std::size_t index() const { return std::size_t(value_); }
  // The same, -1: none.
  constexpr int value() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  int value_ = -1;
};

// The ids of a list of `size` things, in their order.
template <class I>
class IdRange {
 public:
  class Iterator {
   public:
    explicit Iterator(std::size_t at) : at_(at) {}
    I operator*() const { return I(at_); }
    Iterator& operator++() {
      at_++;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    std::size_t at_;
  };

  explicit IdRange(std::size_t size) : size_(size) {}
  Iterator begin() const { return Iterator(0); }
  Iterator end() const { return Iterator(size_); }

 private:
  std::size_t size_;
};

template <class I, class T>
class IndexedVector {
 public:
  using Values = std::vector<T>;

  IndexedVector() = default;
  explicit IndexedVector(std::size_t size, const T& value = T()) : values_(size, value) {}

  typename Values::reference operator[](I id) { return values_[id.index()]; }
  typename Values::const_reference operator[](I id) const { return values_[id.index()]; }
  // Its number.
  I push_back(T value) {
    values_.push_back(std::move(value));
    return I(values_.size() - 1);
  }
  void assign(std::size_t size, const T& value) { values_.assign(size, value); }
  void resize(std::size_t size) { values_.resize(size); }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  bool operator==(const IndexedVector&) const = default;
  IdRange<I> ids() const { return IdRange<I>(values_.size()); }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  Values values_;
};

}  // namespace kaiten

#endif  // KAITEN_BASE_ID_H
