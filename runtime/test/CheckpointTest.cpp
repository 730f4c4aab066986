//===- CheckpointTest.cpp - Checkpoints: whole, or the one before ---------===//
//
// Saved and read back over random cuts; every call of the system that a save
// makes fails once, and kills the process once; every byte is damaged. This
// program defines these calls itself: the library finds them here.
//
//===----------------------------------------------------------------------===//

#include "shardrt/Checkpoint.h"
#include "Checkpoint/Index.h"
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using shardrt::checkpoint::Index;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Calls that fail
//===----------------------------------------------------------------------===//

namespace {
struct Trouble {
  int64_t at = -1; ///< the call that fails, counted from 0; -1: none
  bool kills = false;
  int error = EIO;
  int64_t calls = 0;
  std::string name; ///< of the one that failed
  std::string only; ///< calls of this name alone are counted; empty: most
} trouble;
} // namespace

static bool strikes(const char *name) {
  if (trouble.at < 0 || (!trouble.only.empty() && trouble.only != name))
    return false;
  if (trouble.calls++ != trouble.at)
    return false;
  if (trouble.kills)
    kill(getpid(), SIGKILL);
  trouble.name = name;
  errno = trouble.error;
  return true;
}

extern "C" {
int fsync(int file) {
  return strikes("fsync") ? -1 : static_cast<int>(syscall(SYS_fsync, file));
}
ssize_t pwrite(int file, const void *data, size_t bytes, off_t at) {
  if (!strikes("pwrite"))
    return syscall(SYS_pwrite64, file, data, bytes, at);
  // A full disk takes what there is room for, first.
  if (trouble.error == ENOSPC && bytes > 1) {
    trouble.at = trouble.calls;
    return syscall(SYS_pwrite64, file, data, bytes / 2, at);
  }
  return -1;
}
int posix_fallocate(int file, off_t from, off_t bytes) {
  if (strikes("posix_fallocate"))
    return trouble.error;
  return syscall(SYS_fallocate, file, 0, from, bytes) == 0 ? 0 : errno;
}
int ftruncate(int file, off_t bytes) noexcept {
  return strikes("ftruncate")
             ? -1
             : static_cast<int>(syscall(SYS_ftruncate, file, bytes));
}
int mkdirat(int at, const char *name, mode_t mode) noexcept {
  return strikes("mkdirat")
             ? -1
             : static_cast<int>(syscall(SYS_mkdirat, at, name, mode));
}
int renameat(int at, const char *from, int to, const char *name) noexcept {
  return strikes("renameat")
             ? -1
             : static_cast<int>(syscall(SYS_renameat2, at, from, to, name, 0));
}
int unlinkat(int at, const char *name, int flags) noexcept {
  return strikes("unlinkat")
             ? -1
             : static_cast<int>(syscall(SYS_unlinkat, at, name, flags));
}
// What only looks fails where it is asked to: saves go on without it.
int flock(int file, int how) noexcept {
  return trouble.only == "flock" && strikes("flock")
             ? -1
             : static_cast<int>(syscall(SYS_flock, file, how));
}
int fstatat(int at, const char *name, struct stat *about, int flags) noexcept {
  return trouble.only == "fstatat" && strikes("fstatat")
             ? -1
             : static_cast<int>(
                   syscall(SYS_newfstatat, at, name, about, flags));
}
int openat(int at, const char *name, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = flags & O_CREAT ? va_arg(list, int) : 0;
  va_end(list);
  return strikes("openat")
             ? -1
             : static_cast<int>(syscall(SYS_openat, at, name, flags, mode));
}
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

namespace {
using Box = shardrt::checkpoint::Box;

struct Array {
  std::string name, type;
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

int64_t widthOf(const Array &array) {
  return shardrt::elementBytes(*shardrt::elementTypeNamed(array.type));
}

/// How ranks hold an array: their boxes.
using Cut = std::vector<Box>;

struct Directory {
  Directory() {
    // In memory where there is such a place: a disk takes its time for each
    // fsync.
    path = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    // Not as the runtime's own names begin, of which none may be left there.
    path += "/checkpoint-test-XXXXXX";
    if (!mkdtemp(path.data()))
      std::abort();
  }
  ~Directory() { fs::remove_all(path); }
  std::string path;
};

std::vector<Array> makeState(std::mt19937 &random, int64_t count) {
  static const char *const types[] = {"f32", "bf16", "i1", "complex<f64>",
                                      "ui8", "i64",  "f16"};
  std::vector<Array> state;
  for (int64_t i = 0; i < count; ++i) {
    Array array{"v" + std::to_string(i) + "['\"\\']",
                types[random() % std::size(types)],
                {},
                {}};
    int64_t bytes = widthOf(array);
    for (size_t d = random() % 4; d-- > 0;) {
      array.shape.push_back(random() % 9);
      bytes *= array.shape.back();
    }
    for (int64_t b = 0; b < bytes; ++b)
      array.bytes.push_back(static_cast<char>(random()));
    state.push_back(std::move(array));
  }
  return state;
}

/// Cuts each dim along one mesh axis, or not: uneven, empty, replicated.
Cut makeCut(std::mt19937 &random, const std::vector<int64_t> &shape,
            const std::vector<int64_t> &mesh) {
  int64_t ranks = 1;
  for (int64_t size : mesh)
    ranks *= size;
  Cut boxes(ranks, Box(shape.size()));
  std::vector<int64_t> axes(mesh.size());
  for (size_t a = 0; a < axes.size(); ++a)
    axes[a] = a;
  std::shuffle(axes.begin(), axes.end(), random);
  for (size_t d = 0; d < shape.size(); ++d) {
    bool isCut = d < axes.size() && random() % 3 != 0;
    std::vector<int64_t> bounds = {0, shape[d]};
    if (isCut) {
      for (int64_t i = 1; i < mesh[axes[d]]; ++i)
        bounds.push_back(random() % (shape[d] + 1));
      std::sort(bounds.begin(), bounds.end());
    }
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t inner = 1;
      for (size_t a = mesh.size(); isCut && a-- > size_t(axes[d]) + 1;)
        inner *= mesh[a];
      int64_t at = isCut ? rank / inner % mesh[axes[d]] : 0;
      boxes[rank][d] = {bounds[at], bounds[at + 1]};
    }
  }
  return boxes;
}

/// The bytes of `box`, one by one from their indices.
std::vector<char> cutOut(const Array &array, const Box &box) {
  int64_t width = widthOf(array), total = 1;
  for (const shardc::Interval &interval : box)
    total *= interval.size();
  std::vector<char> bytes;
  for (int64_t i = 0; i < total; ++i) {
    int64_t left = i, stride = 1, at = 0;
    for (size_t d = box.size(); d-- > 0;) {
      at += (box[d].begin + left % box[d].size()) * stride;
      left /= box[d].size();
      stride *= array.shape[d];
    }
    bytes.insert(bytes.end(), array.bytes.begin() + at * width,
                 array.bytes.begin() + (at + 1) * width);
  }
  return bytes;
}

std::vector<int64_t> flat(const Cut &cut) {
  std::vector<int64_t> numbers;
  for (const Box &box : cut)
    for (const shardc::Interval &interval : box) {
      numbers.push_back(interval.begin);
      numbers.push_back(interval.end);
    }
  return numbers;
}

struct Result {
  int status = 0;
  std::string text;
};

/// Saves as a job of as many ranks as there are boxes.
Result save(const std::string &path, int64_t step,
            const std::vector<Array> &state, const std::vector<Cut> &cuts,
            int64_t keep = 0) {
  char problem[1024] = "";
  shardrt_checkpoints *directory = nullptr;
  shardrt_save *save = nullptr;
  Result result;
  auto failed = [&](int status) {
    result = {status, problem};
    return status != 0;
  };
  if (failed(shardrt_checkpoints_open(path.c_str(), 1, &directory, problem,
                                      sizeof(problem))))
    return result;
  auto ranks = static_cast<int64_t>(cuts[0].size());
  std::vector<std::vector<int64_t>> boxes;
  std::vector<shardrt_checkpoint_value> values;
  for (size_t i = 0; i < state.size(); ++i)
    boxes.push_back(flat(cuts[i]));
  for (size_t i = 0; i < state.size(); ++i)
    values.push_back({state[i].name.c_str(), state[i].type.c_str(),
                      static_cast<int64_t>(state[i].shape.size()),
                      state[i].shape.data(), boxes[i].data()});
  shardrt_checkpoint_info info = {step, 7, ranks, "x=2", "0123"};
  bool ended =
      failed(shardrt_save_begin(directory, &info, values.data(), values.size(),
                                &save, problem, sizeof(problem))) ||
      failed(shardrt_save_create(save, problem, sizeof(problem)));
  for (int64_t rank = 0; !ended && rank < ranks; ++rank) {
    std::vector<std::vector<char>> held;
    std::vector<const void *> data;
    for (size_t i = 0; i < state.size(); ++i)
      held.push_back(cutOut(state[i], cuts[i][rank]));
    for (const std::vector<char> &bytes : held)
      data.push_back(bytes.data());
    ended = failed(
        shardrt_save_write(save, rank, data.data(), problem, sizeof(problem)));
  }
  if (!ended)
    failed(shardrt_save_commit(save, keep, problem, sizeof(problem)));
  shardrt_save_end(save);
  shardrt_checkpoints_close(directory);
  return result;
}

std::vector<Cut> whole(const std::vector<Array> &state) {
  std::vector<Cut> cuts;
  for (const Array &array : state) {
    Box box;
    for (int64_t size : array.shape)
      box.push_back({0, size});
    cuts.push_back({box});
  }
  return cuts;
}

/// Reads every rank's boxes and compares them.
Result restore(const std::string &path, int64_t step,
               const std::vector<Array> &state, const std::vector<Cut> &cuts) {
  char problem[1024] = "";
  shardrt_checkpoints *directory = nullptr;
  shardrt_restore *restore = nullptr;
  Result result;
  auto failed = [&](int status) {
    result = {status, problem};
    return status != 0;
  };
  auto ranks = static_cast<int64_t>(cuts[0].size());
  bool ended = failed(shardrt_checkpoints_open(path.c_str(), 0, &directory,
                                               problem, sizeof(problem))) ||
               failed(shardrt_restore_begin(directory, step, &restore, problem,
                                            sizeof(problem)));
  if (!ended && shardrt_restore_num_values(restore) !=
                    static_cast<int64_t>(state.size())) {
    ended = true;
    result = {-1, "another number of values"};
  }
  for (int64_t rank = 0; !ended && rank < ranks; ++rank)
    ended = failed(
        shardrt_restore_verify(restore, rank, ranks, problem, sizeof(problem)));
  for (int64_t rank = 0; !ended && rank < ranks; ++rank)
    for (size_t i = 0; !ended && i < state.size(); ++i) {
      shardrt_checkpoint_value value;
      std::vector<char> expected = cutOut(state[i], cuts[i][rank]),
                        got(expected.size() + 1, 'x');
      std::vector<int64_t> box = flat({cuts[i][rank]});
      ended = failed(shardrt_restore_value(restore, i, &value)) ||
              failed(shardrt_restore_box(restore, i, box.data(), got.data(),
                                         problem, sizeof(problem)));
      if (ended)
        break;
      bool isSame =
          got.back() == 'x' && value.name == state[i].name &&
          value.element_type == state[i].type &&
          std::vector<int64_t>(value.shape, value.shape + value.num_dims) ==
              state[i].shape;
      got.pop_back();
      if (!isSame || got != expected) {
        ended = true;
        result = {-1, "other bits in " + state[i].name};
      }
    }
  shardrt_restore_end(restore);
  shardrt_checkpoints_close(directory);
  return result;
}

/// Steps of which a reader finds checkpoints.
std::vector<int64_t> stepsOf(const std::string &path) {
  shardrt_checkpoints *directory = nullptr;
  if (shardrt_checkpoints_open(path.c_str(), 0, &directory, nullptr, 0))
    return {};
  std::vector<int64_t> steps(100);
  int64_t count =
      shardrt_checkpoints_steps(directory, steps.data(), 100, nullptr, 0);
  steps.resize(std::max<int64_t>(count, 0));
  shardrt_checkpoints_close(directory);
  return steps;
}

std::vector<int64_t> someMesh(std::mt19937 &random) {
  std::vector<int64_t> mesh;
  for (size_t axes = 1 + random() % 3; axes-- > 0;)
    mesh.push_back(1 + random() % 4);
  return mesh;
}

std::vector<Cut> someCuts(std::mt19937 &random,
                          const std::vector<Array> &state) {
  std::vector<Cut> cuts;
  std::vector<int64_t> mesh = someMesh(random);
  for (const Array &array : state)
    cuts.push_back(makeCut(random, array.shape, mesh));
  return cuts;
}

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void writeFile(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}
} // namespace

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(Checkpoint, AnyMeshReadsWhatAnyMeshSaved) {
  std::mt19937 random(1);
  for (int64_t saver = 0; saver < 20; ++saver) {
    Directory directory;
    std::vector<Array> state = makeState(random, 6);
    Result saved = save(directory.path, 3, state, someCuts(random, state));
    ASSERT_EQ(saved.status, 0) << saved.text;
    for (int64_t reader = 0; reader < 20; ++reader) {
      Result read = restore(directory.path, 3, state, someCuts(random, state));
      ASSERT_EQ(read.status, 0) << saver << ", " << reader << ": " << read.text;
    }
  }
}

// Short runs, long ones, and cells of more than one block.
TEST(Checkpoint, LargeValuesHaveManyBlocks) {
  std::mt19937 random(2);
  Array array{"large", "f32", {700, 1100}, {}};
  for (int64_t b = 0; b < 700 * 1100 * 4; ++b)
    array.bytes.push_back(static_cast<char>(random()));
  std::vector<Array> state = {array};
  std::vector<Cut> byRows, byColumns;
  for (auto [cuts, rows] : {std::pair(&byRows, 1), std::pair(&byColumns, 0)})
    cuts->push_back(rows ? Cut{{{0, 650}, {0, 1100}}, {{650, 700}, {0, 1100}}}
                         : Cut{{{0, 700}, {0, 1}}, {{0, 700}, {1, 1100}}});
  for (const auto &cuts : {byRows, byColumns}) {
    Directory directory;
    ASSERT_EQ(save(directory.path, 1, state, cuts).status, 0);
    for (const auto &readers : {byRows, byColumns, whole(state)}) {
      Result read = restore(directory.path, 1, state, readers);
      EXPECT_EQ(read.status, 0) << read.text;
    }
  }
}

// Replicas share the work: none writes all, and nothing is written twice.
TEST(Checkpoint, ReplicasShareWhatTheyWrite) {
  Array array{"large", "f32", {6 << 18}, std::vector<char>(6 << 20, 'a')};
  Box all = {{0, 6 << 18}};
  std::vector<int64_t> boxes = flat({all, all, all});
  shardrt_checkpoint_value value = {"large", "f32", 1, array.shape.data(),
                                    boxes.data()};
  shardrt_checkpoint_info info = {1, 0, 3, "x=3", ""};
  Directory directory;
  shardrt_checkpoints *opened = nullptr;
  shardrt_save *save = nullptr;
  ASSERT_EQ(
      shardrt_checkpoints_open(directory.path.c_str(), 1, &opened, nullptr, 0),
      0);
  ASSERT_EQ(shardrt_save_begin(opened, &info, &value, 1, &save, nullptr, 0), 0);
  for (int64_t rank = 0; rank < 3; ++rank) {
    int64_t bytes;
    shardrt_save_digests(save, rank, &bytes);
    EXPECT_EQ(bytes, 2 * 32);
  }
  shardrt_save_end(save);
  shardrt_checkpoints_close(opened);
}

TEST(Checkpoint, EveryCallThatFailsLeavesTheOneBefore) {
  std::mt19937 random(3);
  std::vector<Array> before = makeState(random, 3), after = before;
  for (Array &array : after)
    for (char &byte : array.bytes)
      byte = static_cast<char>(~byte);
  int64_t calls = 0, refused = 0;
  std::set<std::string> said;
  for (int error : {EIO, ENOSPC})
    for (int64_t at = 0;; ++at) {
      Directory directory;
      std::vector<Cut> cuts = someCuts(random, before);
      ASSERT_EQ(save(directory.path, 1, before, cuts).status, 0);
      trouble = {at, false, error, 0, "", ""};
      Result result = save(directory.path, 2, after, cuts, 1);
      bool reached = trouble.calls > at;
      std::string name = trouble.name;
      trouble = {};
      if (!reached) {
        EXPECT_EQ(result.status, 0) << result.text;
        break;
      }
      ++calls;
      SCOPED_TRACE(name + ", call " + std::to_string(at) + ": " + result.text);
      ASSERT_EQ(result.status, SHARDRT_IO);
      EXPECT_NE(result.text.find(directory.path), std::string::npos);
      for (const char *words :
           {"cannot be opened; do all ranks see the directory?",
            "does not reach the disk", "cannot be renamed to step-00000002",
            "cannot be removed", "cannot be listed"})
        if (result.text.find(words) != std::string::npos)
          said.insert(words);
      std::vector<int64_t> steps = stepsOf(directory.path);
      ASSERT_FALSE(steps.empty());
      ++refused;
      for (int64_t step : steps) {
        Result read = restore(directory.path, step, step == 1 ? before : after,
                              someCuts(random, before));
        ASSERT_EQ(read.status, 0) << "step " << step << ": " << read.text;
      }
      // And one can go on.
      Result again = save(directory.path, 3, after, cuts);
      ASSERT_EQ(again.status, 0) << again.text;
    }
  EXPECT_GT(calls, 40);
  EXPECT_EQ(refused, calls);
  EXPECT_EQ(said.size(), 5u) << "of the texts above some never came";
  std::printf(
      "%ld calls failed, %ld saves refused with the checkpoint before whole\n",
      long(calls), long(refused));
}

TEST(Checkpoint, DirectoriesThatCannotBeLookedAtAreRefused) {
  std::mt19937 random(4);
  std::vector<Array> state = makeState(random, 2);
  Directory directory;
  ASSERT_EQ(save(directory.path, 1, state, someCuts(random, state)).status, 0);
  shardrt_checkpoints *opened = nullptr;
  ASSERT_EQ(
      shardrt_checkpoints_open(directory.path.c_str(), 0, &opened, nullptr, 0),
      0);
  trouble = {0, false, EIO, 0, "", "flock"};
  Result locked = save(directory.path, 2, state, whole(state));
  trouble = {0, false, EIO, 0, "", "fstatat"};
  char problem[1024] = "";
  EXPECT_EQ(
      shardrt_checkpoints_steps(opened, nullptr, 0, problem, sizeof(problem)),
      -1);
  trouble = {};
  shardrt_checkpoints_close(opened);
  EXPECT_EQ(locked.status, SHARDRT_IO);
  EXPECT_NE(locked.text.find("/lock: cannot be locked"), std::string::npos)
      << locked.text;
  EXPECT_NE(std::string(problem).find("/step-00000001: cannot be looked at"),
            std::string::npos)
      << problem;
}

TEST(Checkpoint, KilledAtEveryCallItIsTheOldOrTheNew) {
  std::mt19937 random(4);
  std::vector<Array> before = makeState(random, 3),
                     after = makeState(random, 3);
  int64_t kills = 0, oldOnes = 0, newOnes = 0;
  for (int64_t at = 0;; ++at) {
    Directory directory;
    std::vector<Cut> cuts = someCuts(random, after);
    ASSERT_EQ(save(directory.path, 1, before, whole(before)).status, 0);
    pid_t child = fork();
    if (child == 0) {
      trouble = {at, true, 0, 0, "", ""};
      _exit(save(directory.path, 2, after, cuts, 1).status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      break;
    }
    ++kills;
    std::vector<int64_t> steps = stepsOf(directory.path);
    ASSERT_FALSE(steps.empty()) << at;
    ++(steps.back() == 1 ? oldOnes : newOnes);
    for (int64_t step : steps) {
      const std::vector<Array> &state = step == 1 ? before : after;
      Result read =
          restore(directory.path, step, state, someCuts(random, state));
      ASSERT_EQ(read.status, 0) << at << ": " << read.text;
    }
    Result again = save(directory.path, 3, after, cuts, 1);
    ASSERT_EQ(again.status, 0) << again.text;
    EXPECT_EQ(stepsOf(directory.path), std::vector<int64_t>{3});
  }
  EXPECT_GT(oldOnes, 10);
  EXPECT_GT(newOnes, 2);
  std::printf(
      "killed at %ld calls: %ld times the old state, %ld times the new one\n",
      long(kills), long(oldOnes), long(newOnes));
}

TEST(Checkpoint, EveryDamagedByteIsFound) {
  std::mt19937 random(5);
  std::vector<Array> state = makeState(random, 4);
  Directory directory;
  ASSERT_EQ(save(directory.path, 8, state, someCuts(random, state)).status, 0);
  std::string folder = directory.path + "/step-00000008/";
  int64_t damaged = 0;
  for (const char *name : {"state.safetensors", "index.json", "index.sha256"}) {
    std::string good = readFile(folder + name);
    ASSERT_FALSE(good.empty());
    for (size_t at = 0; at < good.size(); ++at, ++damaged) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1 << random() % 8);
      writeFile(folder + name, bad);
      Result read = restore(directory.path, 8, state, whole(state));
      ASSERT_EQ(read.status, SHARDRT_IO) << name << ", byte " << at;
      EXPECT_NE(read.text.find(folder), std::string::npos) << read.text;
      EXPECT_NE(read.text.find("byte"), std::string::npos) << read.text;
    }
    for (size_t length :
         {size_t(0), good.size() / 2, good.size() - 1, good.size() + 1}) {
      std::string bad = good;
      bad.resize(length, 'x');
      writeFile(folder + name, bad);
      Result read = restore(directory.path, 8, state, whole(state));
      EXPECT_EQ(read.status, SHARDRT_IO)
          << name << " of " << length << " bytes";
    }
    fs::remove(folder + name);
    Result read = restore(directory.path, 8, state, whole(state));
    EXPECT_EQ(read.status, SHARDRT_IO);
    EXPECT_NE(read.text.find(std::string(name) + ": is missing"),
              std::string::npos)
        << read.text;
    writeFile(folder + name, good);
  }
  EXPECT_EQ(restore(directory.path, 8, state, whole(state)).status, 0);
  writeFile(folder + "rank-0003.safetensors", "more");
  EXPECT_NE(restore(directory.path, 8, state, whole(state))
                .text.find("rank-0003.safetensors: does not belong"),
            std::string::npos);
  std::printf("%ld bytes damaged, each found\n", long(damaged));
}

TEST(Checkpoint, LinksAndSpecialFilesAreRefused) {
  std::mt19937 random(6);
  std::vector<Array> state = makeState(random, 2);
  Directory directory;
  ASSERT_EQ(save(directory.path, 8, state, whole(state)).status, 0);
  std::string folder = directory.path + "/step-00000008",
              moved = directory.path + "/elsewhere";
  for (const char *name : {"state.safetensors", "index.json", "index.sha256"}) {
    fs::rename(folder + "/" + name, moved);
    fs::create_symlink(moved, folder + "/" + name);
    Result read = restore(directory.path, 8, state, whole(state));
    EXPECT_EQ(read.status, SHARDRT_IO);
    EXPECT_NE(read.text.find("symbolic link"), std::string::npos) << read.text;
    fs::remove(folder + "/" + name);
    ASSERT_EQ(mkfifo((folder + "/" + name).c_str(), 0600), 0);
    read = restore(directory.path, 8, state, whole(state));
    EXPECT_NE(read.text.find("no regular file"), std::string::npos)
        << read.text;
    fs::remove(folder + "/" + name);
    fs::rename(moved, folder + "/" + name);
  }
  fs::rename(folder, moved);
  fs::create_symlink(moved, folder);
  EXPECT_NE(restore(directory.path, 8, state, whole(state)).status, 0);
  EXPECT_EQ(save(directory.path, 8, state, whole(state)).status, SHARDRT_IO);
  fs::remove(folder);
  // Where a save would put its own, and the directory itself.
  fs::create_symlink("/tmp", directory.path + "/.unfinished-step-00000009");
  EXPECT_EQ(save(directory.path, 9, state, whole(state)).status, SHARDRT_IO);
  EXPECT_TRUE(fs::exists("/tmp"));
  Directory other;
  fs::create_symlink(directory.path, other.path + "/link");
  Result linked = save(other.path + "/link", 1, state, whole(state));
  EXPECT_NE(linked.text.find("symbolic link"), std::string::npos)
      << linked.text;
}

TEST(Checkpoint, OneJobSavesAtATime) {
  Directory directory;
  shardrt_checkpoints *first = nullptr, *second = nullptr;
  char problem[1024] = "";
  ASSERT_EQ(shardrt_checkpoints_open(directory.path.c_str(), 1, &first, problem,
                                     sizeof(problem)),
            0);
  EXPECT_EQ(shardrt_checkpoints_open(directory.path.c_str(), 1, &second,
                                     problem, sizeof(problem)),
            SHARDRT_IO);
  EXPECT_NE(std::string(problem).find("another job saves here (process " +
                                      std::to_string(getpid())),
            std::string::npos)
      << problem;
  EXPECT_EQ(shardrt_checkpoints_open(directory.path.c_str(), 0, &second,
                                     problem, sizeof(problem)),
            0);
  shardrt_checkpoints_close(second);
  shardrt_checkpoints_close(first);
  ASSERT_EQ(shardrt_checkpoints_open(directory.path.c_str(), 1, &first, problem,
                                     sizeof(problem)),
            0)
      << problem;
  shardrt_checkpoints_close(first);
}

TEST(Checkpoint, BoxesThatAreNoCutAreRefused) {
  Directory directory;
  shardrt_checkpoints *opened = nullptr;
  ASSERT_EQ(
      shardrt_checkpoints_open(directory.path.c_str(), 1, &opened, nullptr, 0),
      0);
  auto refuses = [&](std::vector<int64_t> boxes, const char *what) {
    int64_t shape[] = {4, 4};
    shardrt_checkpoint_value value = {"v", "f32", 2, shape, boxes.data()};
    shardrt_checkpoint_info info = {1, 0, 2, "", ""};
    shardrt_save *save = nullptr;
    char problem[1024] = "";
    EXPECT_EQ(shardrt_save_begin(opened, &info, &value, 1, &save, problem,
                                 sizeof(problem)),
              SHARDRT_USAGE);
    EXPECT_NE(std::string(problem).find(what), std::string::npos) << problem;
  };
  refuses({0, 4, 0, 4, 0, 4, 0, 5}, "lies outside");
  refuses({0, 4, 0, 3, 0, 4, 2, 4}, "boxes of ranks are not cut dim by dim");
  refuses({0, 4, 0, 4, 0, 4, 2, 4}, "overlaps");
  refuses({0, 4, 0, 2, 0, 4, 0, 2}, "no rank holds all of it");
  shardrt_checkpoints_close(opened);
}

TEST(Checkpoint, ValuesThatCannotBeSavedAreRefused) {
  Directory directory;
  shardrt_checkpoints *opened = nullptr;
  ASSERT_EQ(
      shardrt_checkpoints_open(directory.path.c_str(), 1, &opened, nullptr, 0),
      0);
  int64_t shape[] = {4}, box[] = {0, 4}, huge[] = {int64_t(1) << 60};
  auto refuses = [&](std::vector<shardrt_checkpoint_value> values,
                     const char *mesh, const char *what) {
    shardrt_checkpoint_info info = {1, 0, 1, mesh, ""};
    shardrt_save *save = nullptr;
    char problem[1024] = "";
    EXPECT_EQ(shardrt_save_begin(opened, &info, values.data(),
                                 static_cast<int64_t>(values.size()), &save,
                                 problem, sizeof(problem)),
              SHARDRT_USAGE);
    EXPECT_NE(std::string(problem).find(what), std::string::npos) << problem;
  };
  shardrt_checkpoint_value value = {"v", "f32", 1, shape, box};
  shardrt_checkpoint_value other = {"v", "f33", 1, shape, box};
  shardrt_checkpoint_value large = {"v", "f32", 1, huge, box};
  refuses({other}, "", "value 'v': there is no such element type");
  refuses({value}, "\n",
          "mesh and program of a checkpoint are printable ASCII");
  refuses({large, large, large}, "",
          "values of a checkpoint are too large to count");
  refuses({value, value}, "", "two values of a checkpoint are called 'v'");
  shape[0] = 4, box[1] = 5;
  refuses({value}, "", "value 'v': the box of rank 0 lies outside of it");
  shardrt_checkpoints_close(opened);
}

// Each thing that an index can say wrongly, with a digest that is right.
TEST(Checkpoint, WrongIndexesAreRefusedByName) {
  Directory directory;
  std::vector<Array> state = {{"v", "f32", {4}, std::vector<char>(16)},
                              {"w", "f32", {4}, std::vector<char>(16)}};
  ASSERT_EQ(save(directory.path, 1, state, whole(state)).status, 0);
  std::string good = readFile(directory.path + "/step-00000001/index.json");
  auto refuses = [&](const std::string &from, const std::string &to,
                     const std::string &what) {
    std::string bad = good;
    size_t at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << good;
    bad.replace(at, from.size(), to);
    Index index;
    auto status = Index::parse(bad, "index", index);
    EXPECT_EQ(status.code, SHARDRT_IO);
    EXPECT_NE(status.text.find(what), std::string::npos) << status.text;
  };
  auto numberAfter = [&](const std::string &key) {
    size_t at = good.find(key) + key.size();
    return good.substr(at, good.find_first_of(",\n}", at) - at);
  };
  refuses("{\"format\":" + numberAfter("{\"format\":"), "{\"format\":99",
          "has format 99, this version reads format ");
  refuses("\"block_bytes\":" + numberAfter("\"block_bytes\":"),
          "\"block_bytes\":12",
          "blocks of 12 bytes; from 4096 to 2^30 are read");
  refuses("\"cuts\":[[0,4]]", "\"cuts\":[[0,3]]",
          "value 'v': its cuts do not cut its shape");
  refuses("\"shape\":[4]", "\"shape\":[4000000]",
          "value 'v': its cuts do not cut its shape");
  refuses("\"shape\":[4],\"offset\":0,\"cuts\":[[0,4]]",
          "\"shape\":[9000000],\"offset\":0,\"cuts\":[[0,9000000]]",
          "value 'v': fewer digests than it has blocks");
  refuses("\"offset\":16", "\"offset\":32",
          "value 'w' begins at byte 32, where byte 16 is its place");
}

// The index as an attacker would write it: its digest is right.
TEST(Checkpoint, MutatedIndexesAreRefusedOrWhole) {
  std::mt19937 random(7);
  int64_t refused = 0, taken = 0;
  for (int64_t round = 0; round < 40; ++round) {
    std::vector<Array> state = makeState(random, 3);
    Directory directory;
    ASSERT_EQ(save(directory.path, 8, state, someCuts(random, state)).status,
              0);
    std::string good = readFile(directory.path + "/step-00000008/index.json");
    Index index;
    ASSERT_FALSE(Index::parse(good, "index", index).failed());
    EXPECT_EQ(index.text(), good);
    for (int64_t i = 0; i < 250; ++i) {
      std::string bad = good;
      for (int64_t edits = 1 + random() % 3; edits-- > 0 && !bad.empty();) {
        size_t at = random() % bad.size();
        switch (random() % 5) {
        case 0:
          bad[at] = static_cast<char>(random());
          break;
        case 1:
          bad.erase(at, 1 + random() % 20);
          break;
        case 2:
          bad.insert(at, bad.substr(random() % bad.size(), random() % 40));
          break;
        case 3:
          bad.insert(at, std::to_string(int64_t(random()) << random() % 33));
          break;
        case 4:
          while (at < bad.size() && (bad[at] < '0' || bad[at] > '9'))
            ++at;
          if (at < bad.size())
            bad[at] = static_cast<char>('0' + random() % 10);
          break;
        }
      }
      Index read;
      auto status = Index::parse(bad, "index", read);
      if (status.failed()) {
        ++refused;
        EXPECT_EQ(status.code, SHARDRT_IO);
        EXPECT_EQ(status.text.substr(0, 7), "index: ");
        continue;
      }
      // Whatever it says, it says of values that are whole.
      ++taken;
      EXPECT_EQ(read.text(), bad);
      for (const auto &value : read.values) {
        int64_t covered = 0;
        for (int64_t cell = 0; cell < value.numCells(); ++cell)
          covered += shardrt::checkpoint::bytesOf(
              value.cell(cell), shardrt::elementBytes(value.type));
        EXPECT_EQ(covered, value.bytes());
      }
    }
  }
  EXPECT_GT(refused, 9000);
  std::printf("%ld indexes refused, %ld that say something else taken\n",
              long(refused), long(taken));
}
