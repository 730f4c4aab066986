//===- Mpi.cpp - Messages of an MPI library -------------------------------===//
//
// A frame is a message with its head, and one or more with its body, in pieces
// that an int can count. MPI goes on only when it is called: whoever waits does
// that, and the thread that watches over a run. Bodies are copied before they
// are sent, so that whoever leaves a buffer after a failure takes it with him.
//
//===----------------------------------------------------------------------===//

#include "Comm/Wire/Mpi.h"
#include "Comm/Wire/MpiShim.h"
#include "Host/Absence.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

using namespace shardrt;

namespace {
/// The functions of MpiShim.h.
struct MpiLibrary {
  void *handle = nullptr;
  shardrt_mpi_begin_fn begin = nullptr;
  shardrt_mpi_end_fn end = nullptr;
  shardrt_mpi_send_fn send = nullptr;
  shardrt_mpi_receive_fn receive = nullptr;
  shardrt_mpi_test_fn test = nullptr;
  shardrt_mpi_probe_fn probe = nullptr;
  shardrt_mpi_text_fn text = nullptr;
  /// Said goodbye to by all: MPI ends in order.
  std::atomic<bool> mayEnd{true};

  ~MpiLibrary() {
    // Ending waits for all others, which may be gone: the launcher sees to it.
    if (end && mayEnd.load())
      end();
  }
};

class MpiCarrier final : public Carrier {
public:
  MpiCarrier(std::shared_ptr<MpiLibrary> library, int64_t size, int tag)
      : library(std::move(library)), size(size), tag(tag) {}
  void start(Receiver &to) override { receiver = &to; }
  void send(int64_t peer, const Frame &frame, const void *body,
            std::atomic<int64_t> *pending) override;
  void advance() override;
  void await(int64_t) override;
  void detach() override {}
  void stop(int64_t ms) override;

private:
  static constexpr int64_t pieceBytes = int64_t(1) << 30;
  struct Outgoing {
    Frame frame;
    std::unique_ptr<std::byte[]> body;
    std::vector<void *> requests;
  };
  struct Incoming {
    int64_t peer = 0;
    Frame frame;
    std::unique_ptr<std::byte[]> body;
    std::vector<void *> requests;
  };
  /// Caller holds `calls`. True when all are done; `failed` on an error.
  bool finished(std::vector<void *> &requests, bool &failed);
  static size_t countPieces(int64_t bytes) {
    return static_cast<size_t>((bytes + pieceBytes - 1) / pieceBytes);
  }
  bool begin(std::vector<void *> &requests, bool isSend, std::byte *data,
             int64_t bytes, int64_t peer);
  /// Takes the next frame whose head has come.
  bool takeHead();

  std::shared_ptr<MpiLibrary> library;
  const int64_t size;
  const int tag; ///< of heads; the next one of bodies
  Receiver *receiver = nullptr;
  std::mutex calls;    ///< MPI takes one at a time
  std::mutex delivery; ///< one thread delivers at a time
  std::list<Outgoing> outgoing;
  std::list<Incoming> incoming;
  int64_t goodbyes = 0;
  std::atomic<int64_t> delivered{0};
  int64_t idle = 0; ///< calls of await() in a row that found nothing
};
} // namespace

bool MpiCarrier::begin(std::vector<void *> &requests, bool isSend,
                       std::byte *data, int64_t bytes, int64_t peer) {
  for (int64_t at = 0; at < bytes; at += pieceBytes) {
    int count = static_cast<int>(std::min(pieceBytes, bytes - at));
    void *request = nullptr;
    int error = isSend
                    ? library->send(data + at, count, static_cast<int>(peer),
                                    tag + 1, &request)
                    : library->receive(data + at, count, static_cast<int>(peer),
                                       tag + 1, &request);
    if (error != 0)
      return false;
    requests.push_back(request);
  }
  return true;
}

void MpiCarrier::send(int64_t peer, const Frame &frame, const void *body,
                      std::atomic<int64_t> *pending) {
  // What it takes, before anything is sent.
  std::list<Outgoing> made(1);
  Outgoing &item = made.front();
  item.frame = frame;
  item.requests.reserve(1 + countPieces(frame.bytes));
  if (frame.bytes > 0) {
    item.body.reset(new std::byte[frame.bytes]);
    std::memcpy(item.body.get(), body, frame.bytes);
  }
  bool failed = false;
  {
    std::lock_guard lock(calls);
    outgoing.splice(outgoing.end(), made);
    void *request = nullptr;
    failed = library->send(&item.frame, sizeof(Frame), static_cast<int>(peer),
                           tag, &request) != 0;
    if (!failed)
      item.requests.push_back(request);
    if (!failed && frame.bytes > 0)
      failed = !begin(item.requests, /*isSend=*/true, item.body.get(),
                      frame.bytes, peer);
  }
  if (pending) {
    pending->fetch_sub(1);
    receiver->sent();
  }
  if (failed)
    receiver->lost(peer, "MPI cannot send to it");
}

bool MpiCarrier::finished(std::vector<void *> &requests, bool &failed) {
  while (!requests.empty()) {
    int done = 0;
    if (library->test(&requests.back(), &done) != 0) {
      requests.pop_back();
      failed = true;
      continue;
    }
    if (!done)
      return false;
    requests.pop_back();
  }
  return true;
}

bool MpiCarrier::takeHead() {
  int found = 0, peer = 0, done = 0;
  if (library->probe(tag, &found, &peer) != 0 || !found)
    return false;
  Incoming &item = incoming.emplace_back();
  item.peer = peer;
  void *request = nullptr;
  bool good =
      library->receive(&item.frame, sizeof(Frame), peer, tag, &request) == 0;
  // It is here already.
  while (good && !done)
    good = library->test(&request, &done) == 0;
  good = good && item.frame.magic == Frame::magicWord && item.frame.bytes >= 0;
  if (good && item.frame.bytes > 0) {
    item.body.reset(new (std::nothrow) std::byte[item.frame.bytes]);
    if (!item.body)
      receiver->starved(peer, item.frame.bytes);
    good = item.body && begin(item.requests, /*isSend=*/false, item.body.get(),
                              item.frame.bytes, peer);
  }
  if (!good)
    incoming.pop_back();
  return good;
}

void MpiCarrier::await(int64_t) {
  int64_t before = delivered.load();
  advance();
  if (delivered.load() != before)
    idle = 0;
  else if (++idle < 500)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void MpiCarrier::advance() {
  std::unique_lock mine(delivery, std::try_to_lock);
  if (!mine.owns_lock())
    return;
  std::list<Incoming> ready;
  std::vector<int64_t> broken;
  {
    std::lock_guard lock(calls);
    bool failed = false;
    for (auto it = outgoing.begin(); it != outgoing.end();)
      it = finished(it->requests, failed) ? outgoing.erase(it) : std::next(it);
    while (takeHead())
      ;
    for (auto it = incoming.begin(); it != incoming.end();) {
      auto next = std::next(it);
      failed = false;
      if (finished(it->requests, failed)) {
        if (failed) {
          broken.push_back(it->peer);
          incoming.erase(it);
        } else {
          ready.splice(ready.end(), incoming, it);
        }
      }
      it = next;
    }
  }
  for (Incoming &item : ready) {
    goodbyes += item.frame.kind == Frame::Leave;
    ++delivered;
    receiver->deliver(item.peer, item.frame, std::move(item.body));
  }
  for (int64_t peer : broken)
    receiver->lost(peer, "MPI cannot receive from it");
}

void MpiCarrier::stop(int64_t ms) {
  // The others may keep a world for longer than this rank does.
  constexpr int64_t goodbyeMs = 2000;
  WaitLimit limit(ms * 1'000'000);
  WaitLimit goodbye(std::min(ms, goodbyeMs) * 1'000'000);
  bool isSent = false, areAllDone = false;
  while (!areAllDone && limit.leftNs() > 0 &&
         !(isSent && goodbye.leftNs() <= 0)) {
    advance();
    std::lock_guard lock(calls);
    isSent = outgoing.empty();
    areAllDone = isSent && goodbyes == size - 1;
    std::this_thread::yield();
  }
  if (!areAllDone)
    library->mayEnd.store(false);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// The file that holds MPI for whoever started this process.
static std::string shimFile() {
  if (const char *given = std::getenv("SHARDRT_MPI_LIBRARY"))
    return given;
  const char *kind = std::getenv("OMPI_COMM_WORLD_RANK") ? "openmpi" : "mpich";
  Dl_info info;
  std::string directory;
  if (dladdr(reinterpret_cast<void *>(&shardrt::connectMpi), &info) != 0) {
    directory = info.dli_fname;
    size_t slash = directory.rfind('/');
    directory =
        slash == std::string::npos ? "" : directory.substr(0, slash + 1);
  }
  return directory + "shardrt_mpi_" + kind + ".so";
}

template <typename Function>
static bool find(MpiLibrary &library, Function &function, const char *name) {
  function = reinterpret_cast<Function>(dlsym(library.handle, name));
  return function != nullptr;
}

std::unique_ptr<Carrier> shardrt::connectMpi(Job &job, const std::string &world,
                                             int &status, std::string &error) {
  if (!job.mpi) {
    status = SHARDRT_UNSUPPORTED;
    auto library = std::make_shared<MpiLibrary>();
    std::string file = shimFile();
    // MPI libraries open parts of themselves that look for its names.
    library->handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library->handle) {
      const char *why = dlerror();
      error = "no MPI: " + file + " cannot be opened" +
              (why ? std::string(" (") + why + ")" : "") +
              "; it is built where mpicc of the library is found; "
              "--transport=process needs none";
      return nullptr;
    }
    MpiLibrary &mpi = *library;
    if (!find(mpi, mpi.begin, "shardrt_mpi_begin") ||
        !find(mpi, mpi.send, "shardrt_mpi_send") ||
        !find(mpi, mpi.receive, "shardrt_mpi_receive") ||
        !find(mpi, mpi.test, "shardrt_mpi_test") ||
        !find(mpi, mpi.probe, "shardrt_mpi_probe") ||
        !find(mpi, mpi.text, "shardrt_mpi_text") ||
        !find(mpi, mpi.end, "shardrt_mpi_end")) {
      mpi.end = nullptr;
      error = file + " is of another version of the runtime";
      return nullptr;
    }
    int rank = 0, size = 0;
    if (int failed = mpi.begin(&rank, &size)) {
      char text[512] = "";
      mpi.text(failed, text, sizeof(text));
      mpi.end = nullptr;
      error = std::string("MPI does not start: ") + text;
      return nullptr;
    }
    if (rank != job.launch.rank || size != job.launch.size) {
      mpi.mayEnd.store(false);
      status = SHARDRT_USAGE;
      error = "MPI calls this process rank " + std::to_string(rank) + " of " +
              std::to_string(size) + ", but " + job.launch.launcher +
              " called it rank " + std::to_string(job.launch.rank) + " of " +
              std::to_string(job.launch.size) +
              ": start it by the mpirun of the MPI library in " + file;
      return nullptr;
    }
    job.mpi = library;
  }
  auto library = std::static_pointer_cast<MpiLibrary>(job.mpi);
  // Messages of one world are none of another's.
  int tag = 2 * (std::atoi(world.c_str()) % 10'000);
  return std::make_unique<MpiCarrier>(std::move(library), job.launch.size, tag);
}
