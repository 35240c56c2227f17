#include "walker/session/protocol.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "walker/session/message_fields.h"
#include "walker/session/request_messages.h"
#include "walker/session/thread_message.h"

namespace mixwalk {
namespace {

using protozero::pbf_message;

// Field numbers. The number of a message is that of its field in the outer message.
enum class Outer : protozero::pbf_tag_type {
  hello = 1, dump_request = 2, detach_request = 3, function = 4, module = 5, thread = 6,
  dump_done = 7, detached = 8, record_request = 9, stop_request = 10, recorded_bytes = 11,
  record_done = 12, ledger_offer = 13, problem = 14, visit_failed = 15, assembly = 20,
};
enum class HelloField : protozero::pbf_tag_type {
  protocol = 1, process_id = 2, path = 3, command_line = 4, runtime_name = 5, major = 6,
  minor = 7, build = 8, revision = 9, agent_thread = 10,
};
enum class DoneField : protozero::pbf_tag_type { breaker = 1, frozen_ns = 2 };
enum class BreakerField : protozero::pbf_tag_type { threads_off = 1, process_off = 2 };
enum class BytesField : protozero::pbf_tag_type { new_file = 1, bytes = 2, progress = 3 };
enum class ProgressField : protozero::pbf_tag_type {
  samples = 1, whole = 2, frozen_p50_ns = 3, frozen_p99_ns = 4, frozen_max_ns = 5,
  interventions = 6, events = 7, stopping_p50_ns = 8, stopping_p99_ns = 9, stopping_max_ns = 10,
  slowed = 11, guessed = 12,
};
enum class FunctionField : protozero::pbf_tag_type { id = 1, text = 2 };
enum class ModuleField : protozero::pbf_tag_type { base = 1, size = 2, timestamp = 3, path = 4 };
enum class AssemblyField : protozero::pbf_tag_type { path = 1, mvid = 2, optimised = 3 };
enum class DetachedField : protozero::pbf_tag_type { result = 1 };
enum class LedgerField : protozero::pbf_tag_type { section = 1 };
enum class ProblemField : protozero::pbf_tag_type { text = 1 };
enum class FailedField : protozero::pbf_tag_type { why = 1 };

void put(MessageBuilder<HelloField>& out, const Hello& hello) {
  out.add_uint32(HelloField::protocol, hello.protocol);
  out.add_uint32(HelloField::process_id, hello.process.id);
  out.add_string(HelloField::path, hello.process.path);
  out.add_string(HelloField::command_line, hello.process.command_line);
  out.add_string(HelloField::runtime_name, hello.runtime.name);
  out.add_uint32(HelloField::major, hello.runtime.major);
  out.add_uint32(HelloField::minor, hello.runtime.minor);
  out.add_uint32(HelloField::build, hello.runtime.build);
  out.add_uint32(HelloField::revision, hello.runtime.revision);
  out.add_uint32(HelloField::agent_thread, hello.agent_thread);
}

Hello get_hello(pbf_message<HelloField> in) {
  Hello hello;
  while (in.next()) {
    switch (in.tag()) {
      case HelloField::protocol: hello.protocol = in.get_uint32(); break;
      case HelloField::process_id: hello.process.id = in.get_uint32(); break;
      case HelloField::agent_thread: hello.agent_thread = in.get_uint32(); break;
      case HelloField::path: hello.process.path = in.get_string(); break;
      case HelloField::command_line: hello.process.command_line = in.get_string(); break;
      case HelloField::runtime_name: hello.runtime.name = in.get_string(); break;
      case HelloField::major: hello.runtime.major = static_cast<std::uint16_t>(in.get_uint32()); break;
      case HelloField::minor: hello.runtime.minor = static_cast<std::uint16_t>(in.get_uint32()); break;
      case HelloField::build: hello.runtime.build = static_cast<std::uint16_t>(in.get_uint32()); break;
      case HelloField::revision:
        hello.runtime.revision = static_cast<std::uint16_t>(in.get_uint32());
        break;
      default: in.skip();
    }
  }
  return hello;
}

void put(MessageBuilder<ModuleField>& out, const Module& module) {
  out.add_fixed64(ModuleField::base, module.base);
  out.add_uint32(ModuleField::size, module.size);
  out.add_uint32(ModuleField::timestamp, module.timestamp);
  out.add_string(ModuleField::path, module.path);
}

Module get_module(pbf_message<ModuleField> in) {
  Module module;
  while (in.next()) {
    switch (in.tag()) {
      case ModuleField::base: module.base = in.get_fixed64(); break;
      case ModuleField::size: module.size = in.get_uint32(); break;
      case ModuleField::timestamp: module.timestamp = in.get_uint32(); break;
      case ModuleField::path: module.path = in.get_string(); break;
      default: in.skip();
    }
  }
  return module;
}

void put(MessageBuilder<AssemblyField>& out, const Assembly& assembly) {
  out.add_string(AssemblyField::path, assembly.path);
  out.add_bytes(AssemblyField::mvid, reinterpret_cast<const char*>(assembly.mvid.data()),
                assembly.mvid.size());
  if (assembly.optimised) out.add_bool(AssemblyField::optimised, true);
}

Assembly get_assembly(pbf_message<AssemblyField> in) {
  Assembly assembly{.path = {}, .mvid = {}, .optimised = false};
  while (in.next()) {
    switch (in.tag()) {
      case AssemblyField::path: assembly.path = in.get_string(); break;
      case AssemblyField::mvid: {
        const auto mvid = in.get_view();
        if (mvid.size() != assembly.mvid.size()) throw std::out_of_range("mvid");
        std::memcpy(assembly.mvid.data(), mvid.data(), mvid.size());
        break;
      }
      case AssemblyField::optimised: assembly.optimised = get_flag(in); break;
      default: in.skip();
    }
  }
  return assembly;
}

void put(MessageBuilder<BreakerField>& out, const BreakerState& breaker) {
  out.add_uint32(BreakerField::threads_off, breaker.threads_off);
  out.add_bool(BreakerField::process_off, breaker.process_off);
}

BreakerState get_breaker(pbf_message<BreakerField> in) {
  BreakerState breaker;
  while (in.next()) {
    switch (in.tag()) {
      case BreakerField::threads_off: breaker.threads_off = in.get_uint32(); break;
      case BreakerField::process_off: breaker.process_off = get_flag(in); break;
      default: in.skip();
    }
  }
  return breaker;
}

DumpDone get_dump_done(pbf_message<DoneField> in) {
  DumpDone done;
  while (in.next()) {
    switch (in.tag()) {
      case DoneField::breaker: done.breaker = get_breaker(in.get_message()); break;
      case DoneField::frozen_ns:
        if (done.moments.size() == kMaxMoments) throw std::out_of_range("moments");
        done.moments.push_back({in.get_uint64()});
        break;
      default: in.skip();
    }
  }
  return done;
}

void put(MessageBuilder<ProgressField>& out, const RecordProgress& progress) {
  out.add_uint64(ProgressField::samples, progress.samples);
  out.add_uint64(ProgressField::whole, progress.whole);
  if (progress.guessed != 0) out.add_uint64(ProgressField::guessed, progress.guessed);
  out.add_uint64(ProgressField::frozen_p50_ns, progress.frozen.p50_ns);
  out.add_uint64(ProgressField::frozen_p99_ns, progress.frozen.p99_ns);
  out.add_uint64(ProgressField::frozen_max_ns, progress.frozen.max_ns);
  out.add_uint64(ProgressField::interventions, progress.interventions);
  out.add_uint64(ProgressField::events, progress.events);
  out.add_uint64(ProgressField::stopping_p50_ns, progress.stopping.p50_ns);
  out.add_uint64(ProgressField::stopping_p99_ns, progress.stopping.p99_ns);
  out.add_uint64(ProgressField::stopping_max_ns, progress.stopping.max_ns);
  if (progress.slowed) out.add_bool(ProgressField::slowed, true);
}

RecordProgress get_progress(pbf_message<ProgressField> in) {
  RecordProgress progress;
  while (in.next()) {
    switch (in.tag()) {
      case ProgressField::samples: progress.samples = in.get_uint64(); break;
      case ProgressField::whole: progress.whole = in.get_uint64(); break;
      case ProgressField::guessed: progress.guessed = in.get_uint64(); break;
      case ProgressField::frozen_p50_ns: progress.frozen.p50_ns = in.get_uint64(); break;
      case ProgressField::frozen_p99_ns: progress.frozen.p99_ns = in.get_uint64(); break;
      case ProgressField::frozen_max_ns: progress.frozen.max_ns = in.get_uint64(); break;
      case ProgressField::interventions: progress.interventions = in.get_uint64(); break;
      case ProgressField::events: progress.events = in.get_uint64(); break;
      case ProgressField::stopping_p50_ns: progress.stopping.p50_ns = in.get_uint64(); break;
      case ProgressField::stopping_p99_ns: progress.stopping.p99_ns = in.get_uint64(); break;
      case ProgressField::stopping_max_ns: progress.stopping.max_ns = in.get_uint64(); break;
      case ProgressField::slowed: progress.slowed = get_flag(in); break;
      default: in.skip();
    }
  }
  return progress;
}

RecordedBytes get_recorded_bytes(pbf_message<BytesField> in) {
  RecordedBytes recorded;
  while (in.next()) {
    switch (in.tag()) {
      case BytesField::new_file: recorded.new_file = get_flag(in); break;
      case BytesField::bytes: recorded.bytes = in.get_string(); break;
      case BytesField::progress: recorded.progress = get_progress(in.get_message()); break;
      default: in.skip();
    }
  }
  return recorded;
}

struct Encoder {
  MessageBuilder<Outer>& out;

  void operator()(const Hello& hello) const {
    MessageBuilder<HelloField> inner(out, Outer::hello);
    put(inner, hello);
  }
  void operator()(const DumpRequest& request) const {
    put_request(out, to_number(Outer::dump_request), request);
  }
  void operator()(const DetachRequest&) const { out.add_message(Outer::detach_request, std::string()); }
  void operator()(const FunctionName& function) const {
    MessageBuilder<FunctionField> inner(out, Outer::function);
    inner.add_fixed64(FunctionField::id, function.id);
    inner.add_string(FunctionField::text, function.text);
  }
  void operator()(const Module& module) const {
    MessageBuilder<ModuleField> inner(out, Outer::module);
    put(inner, module);
  }
  void operator()(const Assembly& assembly) const {
    MessageBuilder<AssemblyField> inner(out, Outer::assembly);
    put(inner, assembly);
  }
  void operator()(const Thread& thread) const {
    put_thread(out, to_number(Outer::thread), thread);
  }
  void operator()(const DumpDone& done) const {
    MessageBuilder<DoneField> inner(out, Outer::dump_done);
    {
      MessageBuilder<BreakerField> breaker(inner, DoneField::breaker);
      put(breaker, done.breaker);
    }
    for (const Moment& moment : done.moments) {
      inner.add_uint64(DoneField::frozen_ns, moment.frozen_ns);
    }
  }
  void operator()(const RecordRequest& request) const {
    put_request(out, to_number(Outer::record_request), request);
  }
  void operator()(const StopRequest&) const { out.add_message(Outer::stop_request, std::string()); }
  void operator()(const RecordedBytes& recorded) const {
    MessageBuilder<BytesField> inner(out, Outer::recorded_bytes);
    if (recorded.new_file) inner.add_bool(BytesField::new_file, true);
    inner.add_string(BytesField::bytes, recorded.bytes);
    MessageBuilder<ProgressField> progress(inner, BytesField::progress);
    put(progress, recorded.progress);
  }
  void operator()(const RecordDone& done) const {
    MessageBuilder<BreakerField> inner(out, Outer::record_done);
    put(inner, done.breaker);
  }
  void operator()(const Detached& detached) const {
    MessageBuilder<DetachedField> inner(out, Outer::detached);
    inner.add_uint32(DetachedField::result, detached.result);
  }
  void operator()(const LedgerOffer& offer) const {
    MessageBuilder<LedgerField> inner(out, Outer::ledger_offer);
    inner.add_fixed64(LedgerField::section, offer.section);
  }
  void operator()(const Problem& problem) const {
    MessageBuilder<ProblemField> inner(out, Outer::problem);
    inner.add_string(ProblemField::text, problem.text);
  }
  void operator()(const VisitFailed& failed) const {
    MessageBuilder<FailedField> inner(out, Outer::visit_failed);
    inner.add_uint32(FailedField::why, to_number(failed.why));
  }
};

Message get(pbf_message<Outer>& in) {
  switch (in.tag()) {
    case Outer::hello: return get_hello(in.get_message());
    case Outer::dump_request: return get_dump_request(in.get_view());
    case Outer::detach_request: in.get_view(); return DetachRequest{};
    case Outer::function: {
      FunctionName function;
      pbf_message<FunctionField> inner = in.get_message();
      while (inner.next()) {
        switch (inner.tag()) {
          case FunctionField::id: function.id = inner.get_fixed64(); break;
          case FunctionField::text: function.text = inner.get_string(); break;
          default: inner.skip();
        }
      }
      return function;
    }
    case Outer::module: return get_module(in.get_message());
    case Outer::assembly: return get_assembly(in.get_message());
    case Outer::thread: return get_thread(in.get_view());
    case Outer::dump_done: return get_dump_done(in.get_message());
    case Outer::record_request: return get_record_request(in.get_view());
    case Outer::stop_request: in.get_view(); return StopRequest{};
    case Outer::recorded_bytes: return get_recorded_bytes(in.get_message());
    case Outer::record_done: return RecordDone{get_breaker(in.get_message())};
    case Outer::detached: {
      Detached detached;
      pbf_message<DetachedField> inner = in.get_message();
      while (inner.next(DetachedField::result)) detached.result = inner.get_uint32();
      return detached;
    }
    case Outer::ledger_offer: {
      LedgerOffer offer;
      pbf_message<LedgerField> inner = in.get_message();
      while (inner.next(LedgerField::section)) offer.section = inner.get_fixed64();
      return offer;
    }
    case Outer::problem: {
      Problem problem;
      pbf_message<ProblemField> inner = in.get_message();
      while (inner.next(ProblemField::text)) problem.text = inner.get_string();
      return problem;
    }
    case Outer::visit_failed: {
      VisitFailed failed;
      pbf_message<FailedField> inner = in.get_message();
      while (inner.next(FailedField::why)) {
        failed.why = checked(inner.get_uint32(), VisitFailed::Why::defect);
      }
      return failed;
    }
  }
  throw std::out_of_range("message");
}

}  // namespace

std::string encode(const Message& message) {
  std::string bytes(kLengthBytes, '\0');
  MessageBuilder<Outer> out(bytes);
  std::visit(Encoder{out}, message);
  auto length = static_cast<std::uint32_t>(bytes.size() - kLengthBytes);
  for (std::size_t i = 0; i < kLengthBytes; ++i) bytes[i] = static_cast<char>(length >> (8 * i));
  return bytes;
}

std::array<char, 8> encode_failed(VisitFailed::Why why) noexcept {
  constexpr char kTag = static_cast<char>(static_cast<unsigned>(Outer::visit_failed) << 3 | 2);
  constexpr char kWhyTag = static_cast<char>(static_cast<unsigned>(FailedField::why) << 3);
  return {4, 0, 0, 0, kTag, 2, kWhyTag, static_cast<char>(why)};
}

std::optional<Message> decode(std::string_view bytes) {
  try {
    pbf_message<Outer> in(protozero::data_view(bytes.data(), bytes.size()));
    if (!in.next()) return std::nullopt;
    Message message = get(in);
    if (in.next()) return std::nullopt;
    return message;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

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
