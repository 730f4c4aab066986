//===- Restore.cpp - One checkpoint that is being read --------------------===//
//
// Nothing is taken for granted but the folder's name: the index is what its
// digest says, describes values that fit the file to the byte, and the file
// begins with the header that belongs to them.
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/Restore.h"
#include "shardc/Crypto/Crypto.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

using namespace shardrt;
using namespace shardrt::checkpoint;

/// Reads a whole file of at most `most` bytes.
static Status readText(int folder, const char *name, const std::string &path,
                       int64_t most, std::string &text) {
  File file;
  if (Status status = openFile(folder, name, path, O_RDONLY, file);
      status.failed())
    return status;
  struct stat about;
  if (fstat(file.get(), &about) != 0)
    return systemError(path, "cannot be read");
  if (about.st_size > most)
    return {SHARDRT_IO, path + ": has " + std::to_string(about.st_size) +
                            " bytes, more than the " + std::to_string(most) +
                            " that are read"};
  text.resize(about.st_size);
  return readAt(file.get(), path, text.data(), text.size(), 0);
}

Status Restore::open(const Directory &directory, int64_t step) {
  std::string name = Directory::nameOf(step),
              where = directory.path + "/" + name;
  File folder(openat(directory.get(), name.c_str(),
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder)
    return systemError(where, "cannot be opened as a checkpoint");
  std::vector<std::string> names;
  if (Status status = listNames(folder.get(), where, names); status.failed())
    return status;
  for (const std::string &entry : names)
    if (entry != kState && entry != kIndex && entry != kDigest)
      return {SHARDRT_IO,
              where + "/" + entry + ": does not belong to a checkpoint"};
  for (const char *part : {kState, kIndex, kDigest})
    if (std::find(names.begin(), names.end(), part) == names.end())
      return {SHARDRT_IO, where + "/" + part + ": is missing"};
  std::string text, digest, indexPath = where + "/" + kIndex;
  if (Status status =
          readText(folder.get(), kIndex, indexPath, Index::mostText, text);
      status.failed())
    return status;
  if (Status status =
          readText(folder.get(), kDigest, where + "/" + kDigest, 4096, digest);
      status.failed())
    return status;
  Digest found = shardc::crypto::sha256(
      {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  if (digest != shardc::crypto::toHex(found) + "  " + kIndex + "\n")
    return {SHARDRT_IO, indexPath + ": bytes 0 to " +
                            std::to_string(text.size()) +
                            " have another SHA-256 than " + kDigest +
                            " says: one of the two is damaged"};
  if (Status status = Index::parse(text, indexPath, index); status.failed())
    return status;
  if (index.step != step)
    return {SHARDRT_IO, indexPath + ": is of step " +
                            std::to_string(index.step) + ", but stands in " +
                            name};
  path = where + "/" + kState;
  if (Status status = openFile(folder.get(), kState, path, O_RDONLY, file);
      status.failed())
    return status;
  struct stat about;
  if (fstat(file.get(), &about) != 0)
    return systemError(path, "cannot be read");
  std::string header = index.header(), stored(header.size(), 0);
  begin = static_cast<int64_t>(header.size());
  int64_t bytes = begin + index.dataBytes();
  if (about.st_size != bytes)
    return {SHARDRT_IO,
            path + ": has " + std::to_string(about.st_size) +
                " bytes, the index says " + std::to_string(bytes) +
                (about.st_size < bytes
                     ? ": bytes " + std::to_string(about.st_size) + " to " +
                           std::to_string(bytes) + " are missing"
                     : ": bytes from " + std::to_string(bytes) +
                           " on do not belong to it")};
  if (Status status = readAt(file.get(), path, stored.data(), begin, 0);
      status.failed())
    return status;
  if (stored != header) {
    auto at =
        std::mismatch(stored.begin(), stored.end(), header.begin()).first -
        stored.begin();
    return {SHARDRT_IO, path + ": byte " + std::to_string(at) +
                            " of the header (bytes 0 to " +
                            std::to_string(begin) +
                            ") is not what the index says"};
  }
  return {};
}

/// Runs that are shorter are read together with what is between them.
static constexpr int64_t kShortRun = 16 << 10;
static constexpr int64_t kWindow = 256 << 10;

Status Restore::read(const Value &value, const Box &box, int64_t from,
                     int64_t to, void *data) const {
  Status status;
  std::vector<char> window;
  int64_t windowAt = 0, end = begin + value.offset + value.bytes();
  forEachRun(
      value.shape, box, elementBytes(value.type), from, to,
      [&](int64_t global, int64_t local, int64_t bytes) {
        char *target = static_cast<char *>(data) + (local - from);
        int64_t at = begin + value.offset + global;
        if (bytes >= kShortRun) {
          status = readAt(file.get(), path, target, bytes, at);
          return !status.failed();
        }
        if (at < windowAt || at + bytes > windowAt + int64_t(window.size())) {
          window.resize(std::min(kWindow, end - at));
          windowAt = at;
          status = readAt(file.get(), path, window.data(), window.size(), at);
          if (status.failed())
            return false;
        }
        std::memcpy(target, window.data() + (at - windowAt), bytes);
        return true;
      });
  return status;
}

Status Restore::verify(int64_t share, int64_t shares) const {
  std::vector<uint8_t> bytes(
      std::min(index.blockBytes, std::max<int64_t>(index.dataBytes(), 1)));
  int64_t number = 0;
  for (const Value &value : index.values) {
    int64_t width = elementBytes(value.type);
    for (int64_t c = 0, cells = value.numCells(); c < cells; ++c) {
      Box box = value.cell(c);
      for (int64_t b = value.firstBlock[c]; b < value.firstBlock[c + 1]; ++b) {
        if (number++ % shares != share)
          continue;
        int64_t from = (b - value.firstBlock[c]) * index.blockBytes;
        int64_t to = std::min(from + index.blockBytes, bytesOf(box, width));
        if (Status status = read(value, box, from, to, bytes.data());
            status.failed())
          return status;
        if (shardc::crypto::sha256({bytes.data(), size_t(to - from)}) ==
            value.blocks[b])
          continue;
        int64_t first = -1, last = 0;
        forEachRun(value.shape, box, width, from, to,
                   [&](int64_t global, int64_t, int64_t count) {
                     first = first < 0 ? global : first;
                     last = global + count;
                     return true;
                   });
        int64_t base = begin + value.offset;
        return {SHARDRT_IO, path + ": bytes " + std::to_string(base + first) +
                                " to " + std::to_string(base + last) +
                                ", of '" + value.name +
                                "', have another SHA-256 than index.json says: "
                                "the checkpoint is damaged"};
      }
    }
  }
  return {};
}
