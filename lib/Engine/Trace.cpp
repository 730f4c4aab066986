//===- Trace.cpp - What devices did, and when -----------------------------===//
#include "shardc/Engine/Trace.h"

#include <utility>

using namespace shardc::engine;

bool Tracer::start() {
  std::lock_guard lock(mutex);
  if (on)
    return false;
  trace = {};
  numbers.clear();
  on = true;
  return true;
}

bool Tracer::stop(Trace &noted) {
  std::lock_guard lock(mutex);
  if (!on)
    return false;
  on = false;
  noted = std::move(trace);
  trace = {};
  return true;
}

size_t Tracer::numberOf(const std::string &text) {
  auto [found, isNew] = numbers.try_emplace(text, trace.texts.size());
  if (isNew)
    trace.texts.push_back(text);
  return found->second;
}

void Tracer::append(TraceEvent event) {
  if (trace.events.size() < Trace::limit)
    trace.events.push_back(event);
  else
    ++trace.dropped;
}

void Tracer::add(shardrt_context *context, const shardrt_program *program,
                 const std::string &name, int64_t device, int64_t beginNs,
                 int64_t endNs) {
  std::vector<shardrt_trace_event> noted;
  int64_t dropped = shardrt_trace_end(
      context,
      [](void *user, const shardrt_trace_event *event) {
        if (event->kind == SHARDRT_TRACE_SITE)
          static_cast<std::vector<shardrt_trace_event> *>(user)->push_back(
              *event);
      },
      &noted);
  std::lock_guard lock(mutex);
  if (!on)
    return; // stopped meanwhile
  trace.dropped += dropped;
  size_t nothing = numberOf("");
  append({device, /*isExchange=*/false, numberOf(name), nothing, beginNs, endNs,
          0, 0});
  for (const shardrt_trace_event &event : noted) {
    shardrt_site_info info;
    if (shardrt_program_site_info(program, event.id, &info) != SHARDRT_OK)
      continue;
    append({device, /*isExchange=*/true, numberOf(info.kind),
            numberOf(info.location), event.begin_ns, event.end_ns,
            event.wait_ns, event.bytes});
  }
}
