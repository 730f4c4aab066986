//===- Events.cpp - Events ------------------------------------------------===//

#include "Handles.h"

using namespace shardc::capi;

extern "C" {

void shardc_event_destroy(shardc_event *event) {
  if (event)
    unwrap(event)->release();
}

bool shardc_event_is_ready(const shardc_event *event) {
  return !event || unwrap(event)->isReady();
}

shardc_error *shardc_event_await(shardc_event *event) {
  return guarded([&]() -> MaybeFailure {
    if (!event)
      return nullArgument("event");
    return copyOf(unwrap(event)->await());
  });
}

bool shardc_event_wait_for(shardc_event *event, int64_t nanoseconds) {
  bool isReady = true;
  shardc_error_destroy(guarded([&]() -> MaybeFailure {
    if (event)
      isReady = unwrap(event)->awaitFor(std::chrono::nanoseconds(nanoseconds));
    return nullptr;
  }));
  return isReady;
}

void shardc_event_on_ready(shardc_event *event, shardc_event_fn then,
                           void *user) {
  if (!then)
    return;
  auto notify = [then, user](const Failure *failure) {
    then(guarded([&] { return copyOf(failure); }), user);
  };
  shardc_error *failed = guarded([&]() -> MaybeFailure {
    if (!event)
      return nullArgument("event");
    unwrap(event)->onReadyElsewhere(notify);
    return nullptr;
  });
  if (failed)
    then(failed, user);
}

shardc_error *shardc_event_create(shardc_event **event) {
  return guarded([&]() -> MaybeFailure {
    if (!event)
      return nullArgument("event");
    *event = wrap(new Event);
    return nullptr;
  });
}

void shardc_event_set(shardc_event *event, shardc_error *error) {
  MaybeFailure failure;
  if (error) {
    failure = copyOf(&error->failure);
    shardc_error_destroy(error);
  }
  if (event)
    unwrap(event)->set(std::move(failure));
}

} // extern "C"
