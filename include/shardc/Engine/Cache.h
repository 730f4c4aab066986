//===- Cache.h - Compiled programs that other processes find ----*- C++ -*-===//
//
// A folder of files that belong to this user and that nobody else may read or
// write. Entries appear whole, under the digest of all that they were made of;
// each holds a digest of itself. What is used least recently goes when the
// folder has more than a gigabyte.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ENGINE_CACHE_H
#define SHARDC_ENGINE_CACHE_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardc::engine {

class Cache {
public:
  /// A folder that is made when something is stored; empty: there is none.
  explicit Cache(std::string folder) : folder(std::move(folder)) {}

  /// The parts that were stored under `key`; nothing where there are none, or
  /// none that can be trusted.
  std::optional<std::vector<std::string>> find(std::string_view key) const;
  /// Stores `parts`. That it cannot be done is no error.
  void store(std::string_view key, const std::vector<std::string> &parts) const;

  /// SHARDC_CACHE_DIR, else the user's cache folder; empty where none is known.
  static std::string defaultFolder();
  /// Digest of `parts`, as hexadecimal digits.
  static std::string digest(const std::vector<std::string_view> &parts);

private:
  void trim() const;
  std::string folder;
};

} // namespace shardc::engine

#endif // SHARDC_ENGINE_CACHE_H
