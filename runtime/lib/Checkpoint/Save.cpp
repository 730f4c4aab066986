//===- Save.cpp - One checkpoint that is being made -----------------------===//
//
// Everything is written into a folder that has another name, and is on the disk
// before the folder gets its own. Renaming it is the only moment that counts: a
// job that is killed before has not saved, one that is killed after has.
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/Save.h"
#include "shardc/Crypto/Crypto.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardrt;
using namespace shardrt::checkpoint;

static Status usage(const std::string &text) { return {SHARDRT_USAGE, text}; }

Save::~Save() {
  // What was not committed.
  if (folder)
    removeFolder(directory->get(), name.c_str(), path);
}

Status Save::addValue(const shardrt_checkpoint_value &given) {
  Value value;
  value.name = given.name ? given.name : "";
  if (!isName(value.name))
    return usage("a value of a checkpoint cannot be called '" + value.name +
                 "': names are printable ASCII, up to 4096 characters");
  std::optional<ElementType> type =
      elementTypeNamed(given.element_type ? given.element_type : "");
  if (!type)
    return usage("value '" + value.name + "': there is no such element type");
  value.type = *type;
  value.shape.assign(given.shape, given.shape + given.num_dims);
  if (!isCountable(value.shape, value.type))
    return usage("value '" + value.name +
                 "': its shape is too large, or has more than 16 dims");
  size_t dims = value.shape.size();
  std::vector<Box> boxes;
  std::vector<std::set<int64_t>> cuts(dims);
  for (size_t d = 0; d < dims; ++d)
    cuts[d] = {0, value.shape[d]};
  for (int64_t rank = 0; rank < index.ranks; ++rank) {
    Box box;
    for (size_t d = 0; d < dims; ++d) {
      const int64_t *bounds = given.boxes + 2 * (rank * dims + d);
      if (bounds[0] < 0 || bounds[0] > bounds[1] || bounds[1] > value.shape[d])
        return usage("value '" + value.name + "': the box of rank " +
                     std::to_string(rank) + " lies outside of it");
      box.push_back({bounds[0], bounds[1]});
    }
    if (bytesOf(box, 1) > 0)
      for (size_t d = 0; d < dims; ++d)
        cuts[d].insert({box[d].begin, box[d].end});
    boxes.push_back(std::move(box));
  }
  for (std::set<int64_t> &cut : cuts)
    value.cuts.emplace_back(cut.begin(), cut.end());
  int64_t cells = 1;
  for (const auto &cut : value.cuts)
    if (__builtin_mul_overflow(cells, int64_t(cut.size()) - 1, &cells) ||
        cells > index.ranks)
      return usage("value '" + value.name +
                   "': boxes of ranks are not cut dim by dim");
  value.layBlocks(index.blockBytes);
  // Each cell is a rank's, and each rank's box a cell.
  std::vector<int64_t> &mine = cellOf.emplace_back(index.ranks, -1);
  std::vector<std::vector<int64_t>> holders(cells);
  for (int64_t rank = 0; rank < index.ranks; ++rank) {
    if (bytesOf(boxes[rank], 1) == 0)
      continue;
    int64_t cell = 0;
    for (size_t d = 0; d < dims; ++d) {
      const std::vector<int64_t> &cut = value.cuts[d];
      auto at = std::lower_bound(cut.begin(), cut.end(), boxes[rank][d].begin);
      if (at[1] != boxes[rank][d].end)
        return usage("value '" + value.name + "': the box of rank " +
                     std::to_string(rank) + " overlaps another's");
      cell = cell * (int64_t(cut.size()) - 1) + (at - cut.begin());
    }
    mine[rank] = cell;
    holders[cell].push_back(rank);
  }
  auto number = static_cast<int64_t>(index.values.size());
  for (int64_t cell = 0; cell < cells; ++cell) {
    const std::vector<int64_t> &who = holders[cell];
    if (who.empty())
      return usage("value '" + value.name + "': no rank holds all of it");
    // Ranks that hold the same take turns.
    for (int64_t b = value.firstBlock[cell]; b < value.firstBlock[cell + 1];
         ++b) {
      int64_t block = b - value.firstBlock[cell];
      parts[who[(block + cell + number) % who.size()]].push_back(
          {size_t(number), cell, block});
    }
  }
  index.values.push_back(std::move(value));
  return {};
}

Status Save::begin(const shardrt_checkpoint_info &info,
                   const shardrt_checkpoint_value *values, int64_t count) {
  index.step = info.step;
  index.seed = info.seed;
  index.ranks = info.ranks;
  index.mesh = info.mesh ? info.mesh : "";
  index.program = info.program ? info.program : "";
  if (index.step < 0 || index.seed < 0 || index.ranks < 1)
    return usage(
        "a checkpoint has a step and a seed of at least 0, and a rank");
  if ((!index.mesh.empty() && !isName(index.mesh)) ||
      (!index.program.empty() && !isName(index.program)))
    return usage("mesh and program of a checkpoint are printable ASCII");
  // An index of at most some megabytes.
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::optional<ElementType> type =
        elementTypeNamed(values[i].element_type ? values[i].element_type : "");
    int64_t bytes = type ? elementBytes(*type) : 0;
    for (int64_t d = 0; d < values[i].num_dims; ++d)
      if (__builtin_mul_overflow(bytes, values[i].shape[d], &bytes))
        bytes = 0;
    if (__builtin_add_overflow(total, bytes, &total))
      return usage("values of a checkpoint are too large to count");
  }
  while (total / index.blockBytes > 100'000 && index.blockBytes < int64_t(1)
                                                                      << 30)
    index.blockBytes *= 2;
  parts.resize(index.ranks);
  std::set<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    if (Status status = addValue(values[i]); status.failed())
      return status;
    if (!names.insert(index.values.back().name).second)
      return usage("two values of a checkpoint are called '" +
                   index.values.back().name + "'");
  }
  index.layOut();
  for (const std::vector<Part> &mine : parts)
    digests.emplace_back(mine.size());
  if (static_cast<int64_t>(std::max(index.header().size(),
                                    index.text().size())) > Index::mostText)
    return usage("the index of a checkpoint would have more than 100 MB");
  name = kUnfinished + Directory::nameOf(index.step);
  path = directory->path + "/" + name;
  return {};
}

Status Save::create() {
  std::string final = Directory::nameOf(index.step);
  struct stat about;
  if (fstatat(directory->get(), final.c_str(), &about, AT_SYMLINK_NOFOLLOW) ==
      0)
    return {SHARDRT_IO, directory->path + "/" + final + ": is there already"};
  if (mkdirat(directory->get(), name.c_str(), 0777) != 0)
    return systemError(path, "cannot be made");
  folder = File(openat(directory->get(), name.c_str(),
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder)
    return systemError(path, "cannot be opened");
  std::string state = path + "/" + kState, header = index.header();
  File file;
  if (Status status = openFile(folder.get(), kState, state,
                               O_WRONLY | O_CREAT | O_EXCL, file);
      status.failed())
    return status;
  // A full disk is noticed now, where the file system can say so.
  int64_t bytes = static_cast<int64_t>(header.size()) + index.dataBytes();
  int full = posix_fallocate(file.get(), 0, std::max<int64_t>(bytes, 1));
  if (full != 0 && full != EOPNOTSUPP && full != EINVAL) {
    errno = full;
    return systemError(
        state, ("no room for " + std::to_string(bytes) + " bytes").c_str());
  }
  if (ftruncate(file.get(), bytes) != 0)
    return systemError(
        state, ("no room for " + std::to_string(bytes) + " bytes").c_str());
  if (Status status =
          writeAt(file.get(), state, header.data(), header.size(), 0);
      status.failed())
    return status;
  if (fsync(file.get()) != 0 || !file.close())
    return systemError(state, "does not reach the disk");
  return {};
}

Status Save::write(int64_t rank, const void *const *data) {
  if (parts[rank].empty())
    return {};
  std::string state = path + "/" + kState;
  File mine(openat(directory->get(), name.c_str(),
                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
      file;
  if (!mine)
    return systemError(path,
                       "cannot be opened; do all ranks see the directory?");
  if (Status status = openFile(mine.get(), kState, state, O_WRONLY, file);
      status.failed())
    return status;
  auto begin = static_cast<int64_t>(index.header().size());
  for (size_t i = 0; i < parts[rank].size(); ++i) {
    const Part &part = parts[rank][i];
    const Value &value = index.values[part.value];
    int64_t width = elementBytes(value.type);
    Box box = value.cell(part.cell);
    int64_t from = part.block * index.blockBytes;
    int64_t to = std::min(from + index.blockBytes, bytesOf(box, width));
    auto *bytes = static_cast<const uint8_t *>(data[part.value]);
    digests[rank][i] =
        shardc::crypto::sha256({bytes + from, size_t(to - from)});
    Status status;
    forEachRun(value.shape, box, width, from, to,
               [&](int64_t global, int64_t local, int64_t count) {
                 status = writeAt(file.get(), state, bytes + local, count,
                                  begin + value.offset + global);
                 return !status.failed();
               });
    if (status.failed())
      return status;
  }
  if (fsync(file.get()) != 0 || !file.close())
    return systemError(state, "does not reach the disk");
  return {};
}

Status Save::writeText(const char *file, const std::string &text) {
  std::string called = path + "/" + file;
  File out;
  Status status =
      openFile(folder.get(), file, called, O_WRONLY | O_CREAT | O_EXCL, out);
  if (!status.failed())
    status = writeAt(out.get(), called, text.data(), text.size(), 0);
  if (!status.failed() && (fsync(out.get()) != 0 || !out.close()))
    status = systemError(called, "does not reach the disk");
  return status;
}

Status Save::commit(int64_t keep) {
  for (size_t rank = 0; rank < parts.size(); ++rank)
    for (size_t i = 0; i < parts[rank].size(); ++i) {
      const Part &part = parts[rank][i];
      Value &value = index.values[part.value];
      value.blocks[value.firstBlock[part.cell] + part.block] = digests[rank][i];
    }
  std::string text = index.text();
  Digest digest = shardc::crypto::sha256(
      {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  if (Status status = writeText(kIndex, text); status.failed())
    return status;
  if (Status status = writeText(kDigest, shardc::crypto::toHex(digest) + "  " +
                                             kIndex + "\n");
      status.failed())
    return status;
  if (fsync(folder.get()) != 0)
    return systemError(path, "does not reach the disk");
  std::string final = Directory::nameOf(index.step);
  if (renameat(directory->get(), name.c_str(), directory->get(),
               final.c_str()) != 0)
    return systemError(path, ("cannot be renamed to " + final).c_str());
  folder = File();
  if (fsync(directory->get()) != 0)
    return systemError(directory->path, "does not reach the disk");
  return prune(keep);
}

Status Save::prune(int64_t keep) {
  if (keep <= 0)
    return {};
  std::vector<int64_t> steps;
  if (Status status = directory->steps(steps); status.failed())
    return status;
  // One that is being removed is no checkpoint any more.
  for (size_t i = 0; i + keep < steps.size(); ++i) {
    std::string old = Directory::nameOf(steps[i]), gone = kUnfinished + old;
    if (renameat(directory->get(), old.c_str(), directory->get(),
                 gone.c_str()) != 0)
      return systemError(directory->path + "/" + old, "cannot be removed");
    if (Status status = removeFolder(directory->get(), gone.c_str(),
                                     directory->path + "/" + gone);
        status.failed())
      return status;
  }
  return {};
}
