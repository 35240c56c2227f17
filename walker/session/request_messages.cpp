#include "walker/session/request_messages.h"

#include <cstdint>
#include <stdexcept>
#include <string>

#include "walker/session/message_fields.h"

namespace mixwalk {
namespace {

using protozero::pbf_message;

// Field numbers.
enum class RequestField : protozero::pbf_tag_type {
  engine = 1, deadline_ms = 2, probe = 3, canary_prefix = 4, thread_id = 5, both_engines = 6,
  at_once = 7, canary_id = 8,
};
enum class RecordField : protozero::pbf_tag_type {
  sampling = 1, event = 2, period_ns = 3, thread_name = 4, type = 5, every = 6,
  budget = 7,
};

}  // namespace

void put_request(protozero::pbf_writer& outer, protozero::pbf_tag_type field, const DumpRequest& request) {
  MessageBuilder<RequestField> out(outer, field);
  out.add_uint32(RequestField::engine, to_number(request.engine));
  out.add_uint32(RequestField::deadline_ms, request.deadline_ms);
  out.add_uint32(RequestField::probe, to_number(request.probe));
  if (!request.canary_prefix.empty()) {
    out.add_string(RequestField::canary_prefix, request.canary_prefix);
  }
  for (const std::uint32_t id : request.thread_ids) out.add_uint32(RequestField::thread_id, id);
  if (request.both_engines) out.add_bool(RequestField::both_engines, true);
  if (request.at_once) out.add_bool(RequestField::at_once, true);
  if (request.canary_id != 0) out.add_uint32(RequestField::canary_id, request.canary_id);
}

DumpRequest get_dump_request(protozero::data_view bytes) {
  pbf_message<RequestField> in(bytes);
  DumpRequest request;
  while (in.next()) {
    switch (in.tag()) {
      case RequestField::engine: request.engine = checked(in.get_uint32(), Engine::automatic); break;
      case RequestField::deadline_ms:
        request.deadline_ms = in.get_uint32();
        if (request.deadline_ms == 0 || request.deadline_ms > kMaxDeadlineMs) {
          throw std::out_of_range("deadline");
        }
        break;
      case RequestField::probe:
        request.probe = checked(in.get_uint32(), ProbePolicy::always);
        break;
      case RequestField::canary_prefix: request.canary_prefix = in.get_string(); break;
      case RequestField::thread_id: request.thread_ids.push_back(in.get_uint32()); break;
      case RequestField::both_engines: request.both_engines = get_flag(in); break;
      case RequestField::at_once: request.at_once = get_flag(in); break;
      case RequestField::canary_id: request.canary_id = in.get_uint32(); break;
      default: in.skip();
    }
  }
  return request;
}

void put_request(protozero::pbf_writer& outer, protozero::pbf_tag_type field, const RecordRequest& request) {
  MessageBuilder<RecordField> out(outer, field);
  put_request(out, to_number(RecordField::sampling), request.sampling);
  out.add_uint32(RecordField::event, to_number(request.event));
  out.add_uint64(RecordField::period_ns, request.period_ns);
  for (const std::string& name : request.thread_names) out.add_string(RecordField::thread_name, name);
  if (!request.type.empty()) out.add_string(RecordField::type, request.type);
  if (request.every != 1) out.add_uint64(RecordField::every, request.every);
  if (request.budget != 0) out.add_uint32(RecordField::budget, request.budget);
}

RecordRequest get_record_request(protozero::data_view bytes) {
  pbf_message<RecordField> in(bytes);
  RecordRequest request;
  while (in.next()) {
    switch (in.tag()) {
      case RecordField::sampling: request.sampling = get_dump_request(in.get_view()); break;
      case RecordField::event:
        request.event = checked(in.get_uint32(), SampleEvent::module_load);
        break;
      case RecordField::period_ns: request.period_ns = in.get_uint64(); break;
      case RecordField::thread_name: request.thread_names.push_back(in.get_string()); break;
      case RecordField::type: request.type = in.get_string(); break;
      case RecordField::every: request.every = in.get_uint64(); break;
      case RecordField::budget: request.budget = in.get_uint32(); break;
      default: in.skip();
    }
  }
  if (request.event == SampleEvent::dump) throw std::out_of_range("event");
  if (request.period_ns < kMinPeriodNs || request.period_ns > kMaxPeriodNs) {
    throw std::out_of_range("period");
  }
  if (request.every == 0) throw std::out_of_range("every");
  if (request.budget > kMaxBudget) throw std::out_of_range("budget");
  return request;
}

}  // namespace mixwalk
