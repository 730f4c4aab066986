//===- Trace.cpp - What ranks did, for trace viewers ----------------------===//
//
// The JSON that chrome://tracing began with, and that Perfetto reads: a process
// a rank, in it a track of steps and kernels and one of communication. Times
// are microseconds since the first event.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"
#include "shardc/Analysis/Explain.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

namespace {
constexpr int64_t kCompute = 0, kCommunication = 1;

class Writer {
public:
  Writer(raw_ostream &out, const RunResult &run) : out(out), run(run) {
    for (const TraceReport::Rank &rank : run.trace.ranks)
      for (const shardrt_trace_event &event : rank.events) {
        int64_t begin =
            event.kind == SHARDRT_TRACE_SITE ? event.posted_ns : event.begin_ns;
        first = std::min(first, begin);
      }
  }

  void writeRank(int64_t number) {
    const TraceReport::Rank &rank = run.trace.ranks[number];
    pid = number;
    name("process_name", kCompute, formatv("rank {0}", number).str());
    metadata("process_sort_index", kCompute, "sort_index", number);
    name("thread_name", kCompute, "compute");
    name("thread_name", kCommunication, "communication");
    metadata("thread_sort_index", kCompute, "sort_index", kCompute);
    metadata("thread_sort_index", kCommunication, "sort_index", kCommunication);
    for (const shardrt_trace_event &event : rank.events) {
      if (event.kind == SHARDRT_TRACE_STEP)
        slice(formatv("step {0}", event.id).str(), "step", kCompute,
              event.begin_ns, event.end_ns, {});
      else if (event.kind == SHARDRT_TRACE_KERNEL)
        writeKernel(event);
      else if (event.kind == SHARDRT_TRACE_RELEASE)
        writeRelease(event);
      else
        writeSite(event, rank);
    }
  }

private:
  using Fields = function_ref<void()>;

  /// A number of microseconds, exact to the nanosecond.
  void time(StringRef key, int64_t ns) {
    out.attributeBegin(key);
    out.rawValue(formatv("{0}.{1,0+3}", ns / 1000, ns % 1000).str());
    out.attributeEnd();
  }
  void name(StringRef what, int64_t tid, const std::string &value) {
    metadata(what, tid, "name", json::fixUTF8(value));
  }
  void metadata(StringRef what, int64_t tid, StringRef key, json::Value value) {
    out.object([&] {
      out.attribute("name", what);
      out.attribute("ph", "M");
      out.attribute("pid", pid);
      out.attribute("tid", tid);
      out.attributeObject("args", [&] { out.attribute(key, value); });
    });
  }
  void slice(StringRef called, StringRef category, int64_t tid, int64_t begin,
             int64_t end, Fields fields) {
    out.object([&] {
      out.attribute("name", json::fixUTF8(called));
      out.attribute("cat", category);
      out.attribute("ph", "X");
      out.attribute("pid", pid);
      out.attribute("tid", tid);
      time("ts", begin - first);
      time("dur", end - begin);
      if (fields)
        out.attributeObject("args", fields);
    });
  }

  void writeKernel(const shardrt_trace_event &event) {
    bool known = event.id >= 0 &&
                 event.id < static_cast<int64_t>(run.trace.kernels.size());
    TraceReport::Kernel unknown{"kernel", ""};
    const TraceReport::Kernel &kernel =
        known ? run.trace.kernels[event.id] : unknown;
    slice(kernel.name, "kernel", kCompute, event.begin_ns, event.end_ns, [&] {
      if (!kernel.location.empty())
        out.attribute("location", json::fixUTF8(kernel.location));
      out.attribute("step", event.step);
    });
  }

  /// A site's source was read to the end: what was waited for that.
  void writeRelease(const shardrt_trace_event &event) {
    slice("release " + run.sites[event.id].kind, "release", kCommunication,
          event.begin_ns, event.end_ns, [&] {
            out.attribute("site", event.id);
            out.attribute("step", event.step);
            time("in_calls", event.end_ns - event.begin_ns);
            time("waiting", event.wait_ns);
          });
  }

  void writeSite(const shardrt_trace_event &event,
                 const TraceReport::Rank &rank) {
    const SiteReport &site = run.sites[event.id];
    auto fields = [&] {
      out.attribute("site", event.id);
      out.attribute("step", event.step);
      out.attribute("axis", json::fixUTF8(site.axes));
      out.attribute("location", json::fixUTF8(site.location));
      std::vector<Reason> reasons = parseReasons(site.name);
      if (!reasons.empty())
        out.attribute("needed", json::fixUTF8(reasons.front().needed));
      out.attribute("bytes", event.bytes);
      out.attributeArray("peers", [&] {
        for (int64_t peer : rank.peers[event.id])
          out.value(peer);
      });
      time("posted", event.posted_ns - first);
      time("waited_for", event.begin_ns - first);
      time("done", event.end_ns - first);
      time("in_calls", event.post_ns + event.end_ns - event.begin_ns);
      time("waiting", event.wait_ns);
      time("hidden", event.overlap_ns);
    };
    slice(site.kind, "communication", kCommunication, event.begin_ns,
          event.end_ns, fields);
    if (event.posted_ns == event.begin_ns)
      return;
    // Begun before other work: the call that began it, and a bar from there to
    // the end. Bars of several that are under way at once are beside each
    // other.
    slice("post " + site.kind, "post", kCommunication, event.posted_ns,
          event.posted_ns + event.post_ns,
          [&] { out.attribute("site", event.id); });
    ++flights;
    for (auto [phase, at] :
         {std::pair("b", event.posted_ns), std::pair("e", event.end_ns)})
      out.object([&, phase = phase, at = at] {
        out.attribute("name", json::fixUTF8(site.kind));
        out.attribute("cat", "under way");
        out.attribute("ph", phase);
        out.attribute("id", flights);
        out.attribute("pid", pid);
        out.attribute("tid", kCommunication);
        time("ts", at - first);
      });
  }

  json::OStream out;
  const RunResult &run;
  int64_t pid = 0, first = INT64_MAX, flights = 0;

public:
  json::OStream &stream() { return out; }
};
} // namespace

Error shardc::writeTrace(StringRef path, const ProgramMetadata &program,
                         const RunResult &run) {
  return writeFile(path, [&](raw_ostream &file) {
    Writer writer(file, run);
    json::OStream &out = writer.stream();
    out.object([&] {
      out.attribute("displayTimeUnit", "ms");
      out.attributeObject("otherData", [&] {
        out.attribute("program", json::fixUTF8(program.name));
        out.attribute("mesh", json::fixUTF8(printMesh(program.mesh)));
        out.attribute("steps", static_cast<int64_t>(run.stepMs.size()));
        out.attribute("threads", program.threads);
        int64_t dropped = 0;
        for (const TraceReport::Rank &rank : run.trace.ranks)
          dropped += rank.dropped;
        out.attribute("dropped", dropped);
      });
      out.attributeArray("traceEvents", [&] {
        for (size_t rank = 0; rank < run.trace.ranks.size(); ++rank)
          writer.writeRank(rank);
      });
    });
    file << "\n";
  });
}
