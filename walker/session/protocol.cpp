#include "walker/session/protocol.h"

#include "walker/session/thread_message.h"
#include "walker/wire/message_io.h"

namespace mixwalk {
namespace {

constexpr MessageIO::Number kVisitFailed = 15, kWhy = 1;  // encode_failed

void fields(MessageIO& io, Hello& hello) {
  io.varint(1, hello.protocol);
  io.varint(2, hello.process.id);
  io.string(3, hello.process.path);
  io.string(4, hello.process.command_line);
  io.string(5, hello.runtime.name);
  io.varint(6, hello.runtime.major);
  io.varint(7, hello.runtime.minor);
  io.varint(8, hello.runtime.build);
  io.varint(9, hello.runtime.revision);
  io.varint(10, hello.agent_thread);
}

void fields(MessageIO& io, LedgerOffer& offer) { io.fixed64(1, offer.section); }

void fields(MessageIO& io, DumpRequest& request) {
  io.enumeration(1, request.engine, Engine::automatic);
  if (io.varint(2, request.deadline_ms)) {
    require(request.deadline_ms != 0 && request.deadline_ms <= kMaxDeadlineMs, "no deadline");
  }
  io.enumeration(3, request.probe, ProbePolicy::always);
  io.string(4, request.canary_prefix, "");
  io.repeated(5, request.thread_ids, io.kNoLimit, [&](std::uint32_t& id) { io.varint(5, id); });
  io.varint(7, request.at_once, false);
  io.varint(8, request.canary_id, 0);
  if (io.varint(9, request.start_ms, kDefaultStartMs)) require(request.start_ms <= kDefaultStartMs, "too long a start");
}

void fields(MessageIO& io, RecordRequest& request) {
  io.message(1, request.sampling, fields);
  if (io.enumeration(2, request.event, SampleEvent::module_load)) {
    require(request.event != SampleEvent::dump, "no event");
  }
  if (io.varint(3, request.period_ns)) {
    require(request.period_ns >= kMinPeriodNs && request.period_ns <= kMaxPeriodNs, "no period");
  }
  io.repeated(4, request.thread_names, io.kNoLimit, [&](std::string& name) { io.string(4, name); });
  io.string(5, request.type, "");
  if (io.varint(6, request.every, 1)) require(request.every != 0, "no event is a sample");
  if (io.varint(7, request.budget, 0)) require(request.budget <= kMaxBudget, "no budget");
}

void fields(MessageIO&, StopRequest&) {}
void fields(MessageIO&, DetachRequest&) {}

void fields(MessageIO& io, FunctionName& function) {
  io.fixed64(1, function.id);
  io.string(2, function.text);
}

void fields(MessageIO& io, Module& module) {
  io.fixed64(1, module.base);
  io.varint(2, module.size);
  io.varint(3, module.timestamp);
  io.string(4, module.path);
}

void fields(MessageIO& io, Assembly& assembly) {
  io.string(1, assembly.path);
  io.guid(2, assembly.mvid, "an assembly's MVID is no GUID");
  io.varint(3, assembly.optimised, false);
}

void fields(MessageIO& io, BreakerState& breaker) {
  io.varint(1, breaker.threads_off);
  io.varint(2, breaker.process_off);
}

void fields(MessageIO& io, DumpDone& done) {
  io.message(1, done.breaker, fields);
  io.repeated(2, done.moments, kMaxMoments, [&](Moment& moment) { io.varint(2, moment.frozen_ns); });
}

void fields(MessageIO& io, RecordProgress& progress) {
  io.varint(1, progress.samples);
  io.varint(2, progress.whole);
  io.varint(12, progress.guessed, 0);
  io.varint(3, progress.frozen.p50_ns);
  io.varint(4, progress.frozen.p99_ns);
  io.varint(5, progress.frozen.max_ns);
  io.varint(6, progress.interventions);
  io.varint(7, progress.events);
  io.varint(8, progress.stopping.p50_ns);
  io.varint(9, progress.stopping.p99_ns);
  io.varint(10, progress.stopping.max_ns);
  io.varint(11, progress.slowed, false);
}

void fields(MessageIO& io, RecordedBytes& recorded) {
  io.varint(1, recorded.new_file, false);
  io.string(2, recorded.bytes);
  io.message(3, recorded.progress, fields);
}

void fields(MessageIO& io, RecordDone& done) { fields(io, done.breaker); }
void fields(MessageIO& io, Problem& problem) { io.string(1, problem.text); }
void fields(MessageIO& io, Detached& detached) { io.varint(1, detached.result); }
void fields(MessageIO& io, VisitFailed& failed) { io.enumeration(kWhy, failed.why, VisitFailed::Why::defect); }

// The number of a message is that of its field in the outer message.
void fields(MessageIO& io, Message& message) {
  io.one_of<Hello>(1, message, fields);
  io.one_of<DumpRequest>(2, message, fields);
  io.one_of<DetachRequest>(3, message, fields);
  io.one_of<FunctionName>(4, message, fields);
  io.one_of<Module>(5, message, fields);
  io.one_of<Thread>(6, message, thread_fields);
  io.one_of<DumpDone>(7, message, fields);
  io.one_of<Detached>(8, message, fields);
  io.one_of<RecordRequest>(9, message, fields);
  io.one_of<StopRequest>(10, message, fields);
  io.one_of<RecordedBytes>(11, message, fields);
  io.one_of<RecordDone>(12, message, fields);
  io.one_of<LedgerOffer>(13, message, fields);
  io.one_of<Problem>(14, message, fields);
  io.one_of<VisitFailed>(kVisitFailed, message, fields);
  io.one_of<Assembly>(20, message, fields, {.optimised = false});
}

}  // namespace

std::string encode(const Message& message) {
  std::string bytes(kLengthBytes, '\0');
  write_message(bytes, message, fields);
  auto length = static_cast<std::uint32_t>(bytes.size() - kLengthBytes);
  for (std::size_t i = 0; i < kLengthBytes; ++i) bytes[i] = static_cast<char>(length >> (8 * i));
  return bytes;
}

std::array<char, 8> encode_failed(VisitFailed::Why why) noexcept {
  constexpr char kTag = static_cast<char>(kVisitFailed << 3 | 2);
  constexpr char kWhyTag = static_cast<char>(kWhy << 3);
  return {4, 0, 0, 0, kTag, 2, kWhyTag, static_cast<char>(why)};
}

std::optional<Message> decode(std::string_view bytes) { return read_one_of<Message>(bytes, fields); }

std::optional<std::size_t> decode_length(std::string_view bytes) noexcept {
  if (bytes.size() < kLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  if (length == 0 || length > kMaxMessageBytes) return std::nullopt;
  return length;
}

}  // namespace mixwalk
