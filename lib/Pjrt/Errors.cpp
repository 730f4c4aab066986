//===- Errors.cpp - Errors and events -------------------------------------===//
#include "Objects.h"

namespace shardc::pjrt {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static void destroyError(Error *error) { delete error; }
static void errorMessage(const Error *error, const char **message,
                         size_t *size) {
  *message = error->message.data();
  *size = error->message.size();
}
static Error_Code errorCode(const Error *error) { return error->code; }
static void noPayloads(const Error *, void *, void *) {}

static const Error_FunctionTable functions = {sizeof(Error_FunctionTable),
                                              sizeof(void *),
                                              nullptr,
                                              destroyError,
                                              errorMessage,
                                              errorCode,
                                              noPayloads};

Error *makeError(Error_Code code, std::string message) {
  return new Error{&functions, code, std::move(message)};
}

Error *invalid(std::string message) {
  return makeError(Error_Code_INVALID_ARGUMENT, std::move(message));
}

static Error_Code codeOf(int status) {
  switch (status) {
  case SHARDC_REFUSED:
  case SHARDC_USAGE:
  case SHARDC_ARTIFACT:
    return Error_Code_INVALID_ARGUMENT;
  case SHARDC_WATCHDOG:
    return Error_Code_DEADLINE_EXCEEDED;
  case SHARDC_IO:
    return Error_Code_UNAVAILABLE;
  case SHARDC_MEMORY:
    return Error_Code_RESOURCE_EXHAUSTED;
  case SHARDC_UNSUPPORTED:
    return Error_Code_UNIMPLEMENTED;
  default:
    return Error_Code_INTERNAL;
  }
}

Error *takeError(shardc_error *error) {
  if (!error)
    return nullptr;
  std::string message;
  if (const char *location = shardc_error_location(error);
      location && *location)
    message = std::string(location) + ": ";
  message += shardc_error_message(error);
  Error *taken = makeError(codeOf(shardc_error_status(error)), message);
  shardc_error_destroy(error);
  return taken;
}

const Error_FunctionTable *errorFunctions() { return &functions; }

void Error_Destroy(Error_Destroy_Args *args) {
  if (args->error)
    args->error->vtable->destroy(args->error);
}

void Error_Message(Error_Message_Args *args) {
  errorMessage(args->error, &args->message, &args->message_size);
}

Error *Error_GetCode(Error_GetCode_Args *args) {
  args->code = args->error->code;
  return nullptr;
}

Error *Error_ForEachPayload(Error_ForEachPayload_Args *) { return nullptr; }

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

EventHandle ownEvent(shardc_event *event) {
  return EventHandle(event, [](shardc_event *event) {
    if (event)
      shardc_event_destroy(event);
  });
}

Error *Event_Destroy(Event_Destroy_Args *args) {
  delete args->event;
  return nullptr;
}

Error *Event_IsReady(Event_IsReady_Args *args) {
  shardc_event *event = args->event->handle.get();
  args->is_ready = !event || shardc_event_is_ready(event);
  return nullptr;
}

Error *Event_Error(Event_Error_Args *args) {
  shardc_event *event = args->event->handle.get();
  if (!event)
    return nullptr;
  if (!shardc_event_is_ready(event))
    return makeError(Error_Code_FAILED_PRECONDITION,
                     "an event that is not ready was asked for its error");
  return takeError(shardc_event_await(event));
}

Error *Event_Await(Event_Await_Args *args) {
  shardc_event *event = args->event->handle.get();
  return event ? takeError(shardc_event_await(event)) : nullptr;
}

namespace {
struct Callback {
  EventCallback function;
  void *user;
};
} // namespace

Error *Event_OnReady(Event_OnReady_Args *args) {
  shardc_event *event = args->event->handle.get();
  if (!args->callback)
    return invalid("Event_OnReady without a function to call");
  if (!event) {
    args->callback(nullptr, args->user_arg);
    return nullptr;
  }
  auto *callback = new Callback{args->callback, args->user_arg};
  shardc_event_on_ready(
      event,
      [](shardc_error *error, void *user) {
        Callback callback = *static_cast<Callback *>(user);
        delete static_cast<Callback *>(user);
        callback.function(takeError(error), callback.user);
      },
      callback);
  return nullptr;
}

Error *Event_Create(Event_Create_Args *args) {
  shardc_event *event = nullptr;
  if (Error *error = takeError(shardc_event_create(&event)))
    return error;
  args->event = new Event(ownEvent(event));
  return nullptr;
}

static int statusOf(Error_Code code) {
  switch (code) {
  case Error_Code_INVALID_ARGUMENT:
  case Error_Code_FAILED_PRECONDITION:
  case Error_Code_OUT_OF_RANGE:
    return SHARDC_USAGE;
  case Error_Code_DEADLINE_EXCEEDED:
    return SHARDC_WATCHDOG;
  case Error_Code_RESOURCE_EXHAUSTED:
    return SHARDC_MEMORY;
  case Error_Code_UNIMPLEMENTED:
    return SHARDC_UNSUPPORTED;
  default:
    return SHARDC_LOST;
  }
}

shardc_error *giveError(Error_Code code, const char *message, size_t size) {
  if (code == Error_Code_OK)
    return nullptr;
  std::string text(message ? message : "", message ? size : 0);
  return shardc_error_create(statusOf(code), text.c_str());
}

Error *Event_Set(Event_Set_Args *args) {
  shardc_event *event = args->event->handle.get();
  if (!event || args->event->isSet.exchange(true))
    return makeError(Error_Code_FAILED_PRECONDITION,
                     "an event is set that is set already");
  shardc_event_set(event, giveError(args->error_code, args->error_message,
                                    args->error_message_size));
  return nullptr;
}

} // namespace shardc::pjrt
