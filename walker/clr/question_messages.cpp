#include "walker/clr/question_messages.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "walker/base/checked_protozero.h"
#include "walker/base/utf8.h"

namespace mixwalk {
namespace {

using protozero::pbf_message;

enum class Outer : protozero::pbf_tag_type {
  open = 1, ask_code = 2, ask_methods = 3, ask_code_names = 4, ask_threads = 5, target_ran = 6, opened = 7,
  not_opened = 8, codes = 9, methods = 10, code_names = 11, threads = 12, ask_sync_blocks = 13, ask_object_types = 14,
  sync_blocks = 15, object_types = 16, ask_lock_objects = 17, lock_objects = 18,
  ask_heap_object_types = 19, ask_il_places = 20, il_places = 21,
};
enum class OpenField : protozero::pbf_tag_type {
  version = 1, dac_path = 2, process = 3, dump_path = 4, runtime_base = 5, symbol_path = 6,
};
enum class AddressesField : protozero::pbf_tag_type { addresses = 1 };
enum class TextField : protozero::pbf_tag_type { text = 1 };
enum class ListField : protozero::pbf_tag_type { entry = 1 };
enum class CodeField : protozero::pbf_tag_type {
  method = 1, start = 2, hot_bytes = 3, cold_start = 4, cold_bytes = 5, gc_info = 6, jitted = 7, none = 8,
};
enum class MethodField : protozero::pbf_tag_type { name = 1, stub = 2, import = 3, com = 4 };
enum class ThreadField : protozero::pbf_tag_type {
  address = 1, os_id = 2, managed_id = 3, domain = 4, cooperative = 5, pauses = 6
};
enum class AskBlocksField : protozero::pbf_tag_type { first = 1 };
enum class BlocksField : protozero::pbf_tag_type { next = 1, block = 2, unreadable = 3 };
enum class BlockField : protozero::pbf_tag_type { address = 1, object = 2, owner = 3, recursion = 4, held = 5 };
enum class LockField : protozero::pbf_tag_type {
  owner = 1, recursion = 2, held = 3, kept = 4, none = 5, reader_writer = 6
};
enum class PlacesField : protozero::pbf_tag_type { assembly = 1, place = 2 };
enum class AssemblyField : protozero::pbf_tag_type { path = 1, mvid = 2, optimised = 3 };
enum class PlaceField : protozero::pbf_tag_type { assembly = 1, token = 2, offset = 3, method = 4, none = 5 };
enum class NoField : protozero::pbf_tag_type {};

// Cuts a long text between two characters.
std::string_view cut(std::string_view text) {
  if (text.size() <= kMaxNameBytes) return text;
  std::size_t end = kMaxNameBytes;
  while (end != 0 && (text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

template <class Field>
void add_text(MessageBuilder<Field>& out, Field field, std::string_view text) {
  text = cut(text);
  out.add_string(field, text.data(), text.size());
}

template <class Field>
std::string get_text(pbf_message<Field>& in) {
  const auto view = in.get_view();
  if (view.size() > kMaxNameBytes) throw std::out_of_range("text");
  std::string text = valid_utf8({view.data(), view.size()});
  text.resize(cut(text).size());  // a byte that is no character has become three bytes
  return text;
}

// A message without fields. Folklore: protozero removes a nested message that is left empty. Remedy: a message that may
// be empty is added explicitly, or has a field that says so. Test: EachComesBackAsItWas.
void put_empty(std::string& bytes, Outer which) { MessageBuilder<Outer>(bytes).add_message(which, std::string()); }

void put_addresses(std::string& bytes, Outer which, const std::vector<std::uint64_t>& addresses) {
  if (addresses.empty()) return put_empty(bytes, which);
  MessageBuilder<Outer> outer(bytes);
  MessageBuilder<AddressesField> out(outer, which);
  out.add_packed_fixed64(AddressesField::addresses, addresses.begin(), addresses.end());
}

std::vector<std::uint64_t> get_addresses(pbf_message<AddressesField> in) {
  std::vector<std::uint64_t> addresses;
  while (in.next()) {
    if (in.tag() != AddressesField::addresses) {
      in.skip();
      continue;
    }
    const auto range = in.get_packed_fixed64();
    if (range.size() > kMaxAsked - addresses.size()) throw std::out_of_range("addresses");
    addresses.insert(addresses.end(), range.begin(), range.end());
  }
  return addresses;
}

// Each entry of a list is a separate message, whatever its content.
template <class Entry, class Put>
void put_list(std::string& bytes, Outer which, const std::vector<Entry>& entries, Put put_entry) {
  if (entries.empty()) return put_empty(bytes, which);
  MessageBuilder<Outer> outer(bytes);
  MessageBuilder<ListField> out(outer, which);
  for (const Entry& entry : entries) put_entry(out, entry);
}

template <class Entry, class Field, class Get>
std::vector<Entry> get_list(pbf_message<ListField> in, std::size_t most, Get get_entry) {
  std::vector<Entry> entries;
  while (in.next()) {
    if (in.tag() != ListField::entry) {
      in.skip();
      continue;
    }
    if (entries.size() == most) throw std::out_of_range("list");
    entries.push_back(get_entry(pbf_message<Field>(in.get_message())));
  }
  return entries;
}

std::optional<ClrCode> get_code(pbf_message<CodeField> in) {
  ClrCode code;
  bool none = false;
  while (in.next()) {
    switch (in.tag()) {
      case CodeField::method: code.method = in.get_fixed64(); break;
      case CodeField::start: code.start = in.get_fixed64(); break;
      case CodeField::hot_bytes: code.hot_bytes = in.get_uint64(); break;
      case CodeField::cold_start: code.cold_start = in.get_fixed64(); break;
      case CodeField::cold_bytes: code.cold_bytes = in.get_uint64(); break;
      case CodeField::gc_info: code.gc_info = in.get_fixed64(); break;
      case CodeField::jitted: code.jitted = in.get_uint32() != 0; break;
      case CodeField::none: none = in.get_uint32() != 0; break;
      default: in.skip();
    }
  }
  if (none) return std::nullopt;
  return code;
}

ClrMethod get_method(pbf_message<MethodField> in) {
  ClrMethod method;
  while (in.next()) {
    switch (in.tag()) {
      case MethodField::name: method.name = get_text(in); break;
      case MethodField::stub: method.stub = in.get_uint32() != 0; break;
      case MethodField::import: method.import = get_text(in); break;
      case MethodField::com: method.com = in.get_uint32() != 0; break;
      default: in.skip();
    }
  }
  return method;
}

std::string get_only_text(pbf_message<TextField> in) {
  std::string text;
  while (in.next()) {
    if (in.tag() == TextField::text) {
      text = get_text(in);
    } else {
      in.skip();
    }
  }
  return text;
}

ClrThread get_thread(pbf_message<ThreadField> in) {
  ClrThread thread;
  while (in.next()) {
    switch (in.tag()) {
      case ThreadField::address: thread.address = in.get_fixed64(); break;
      case ThreadField::os_id: thread.os_id = in.get_uint32(); break;
      case ThreadField::managed_id: thread.managed_id = in.get_uint32(); break;
      case ThreadField::domain: thread.domain = in.get_fixed64(); break;
      case ThreadField::cooperative: thread.cooperative = in.get_bool(); break;
      case ThreadField::pauses: thread.pauses = in.get_bool(); break;
      default: in.skip();
    }
  }
  return thread;
}

ClrSyncBlock get_block(pbf_message<BlockField> in) {
  ClrSyncBlock block;
  while (in.next()) {
    switch (in.tag()) {
      case BlockField::address: block.address = in.get_fixed64(); break;
      case BlockField::object: block.object = in.get_fixed64(); break;
      case BlockField::owner: block.owner = in.get_fixed64(); break;
      case BlockField::recursion: block.recursion = in.get_uint32(); break;
      case BlockField::held: block.held = in.get_uint32() != 0; break;
      default: in.skip();
    }
  }
  return block;
}

ClrSyncBlocks get_blocks(pbf_message<BlocksField> in) {
  ClrSyncBlocks blocks;
  while (in.next()) {
    switch (in.tag()) {
      case BlocksField::next: blocks.next = in.get_uint32(); break;
      case BlocksField::unreadable: blocks.unreadable = in.get_uint32() != 0; break;
      case BlocksField::block:
        if (blocks.blocks.size() == kMaxSyncBlocks) throw std::out_of_range("blocks");
        blocks.blocks.push_back(get_block(pbf_message<BlockField>(in.get_message())));
        break;
      default: in.skip();
    }
  }
  return blocks;
}

std::optional<ClrLock> get_lock(pbf_message<LockField> in) {
  ClrLock lock;
  bool none = false;
  std::size_t kept = 0;
  while (in.next()) {
    switch (in.tag()) {
      case LockField::owner: lock.owner = in.get_uint32(); break;
      case LockField::recursion: lock.recursion = in.get_uint32(); break;
      case LockField::held: lock.held = in.get_uint32() != 0; break;
      case LockField::kept: lock.kept.at(kept++) = in.get_fixed64(); break;
      case LockField::reader_writer: lock.reader_writer = in.get_uint32() != 0; break;
      case LockField::none: none = in.get_uint32() != 0; break;
      default: in.skip();
    }
  }
  if (none) return std::nullopt;
  return lock;
}

Assembly get_assembly(pbf_message<AssemblyField> in) {
  Assembly assembly;
  while (in.next()) {
    switch (in.tag()) {
      case AssemblyField::path: assembly.path = get_text(in); break;
      case AssemblyField::mvid: {
        const auto bytes = in.get_view();
        if (bytes.size() != assembly.mvid.size()) throw std::out_of_range("mvid");
        std::memcpy(assembly.mvid.data(), bytes.data(), bytes.size());
        break;
      }
      case AssemblyField::optimised: assembly.optimised = in.get_uint32() != 0; break;
      default: in.skip();
    }
  }
  return assembly;
}

ClrIlPlaces::Place get_place(pbf_message<PlaceField> in) {
  ClrIlPlaces::Place place;
  bool none = false;
  std::uint32_t assembly = 0;
  while (in.next()) {
    switch (in.tag()) {
      case PlaceField::assembly: assembly = in.get_uint32(); break;
      case PlaceField::token: place.il.method = in.get_uint32(); break;
      case PlaceField::offset: place.il.offset = in.get_uint32(); break;
      case PlaceField::method: place.method = in.get_fixed64(); break;
      case PlaceField::none: none = in.get_uint32() != 0; break;
      default: in.skip();
    }
  }
  if (none) return {};
  if (assembly >= kMaxNamesAsked) throw std::out_of_range("assembly");
  place.il.assembly = static_cast<std::int32_t>(assembly);
  return place;
}

ClrIlPlaces get_places(pbf_message<PlacesField> in) {
  ClrIlPlaces found;
  while (in.next()) {
    switch (in.tag()) {
      case PlacesField::assembly:
        if (found.assemblies.size() == kMaxNamesAsked) throw std::out_of_range("assemblies");
        found.assemblies.push_back(get_assembly(pbf_message<AssemblyField>(in.get_message())));
        break;
      case PlacesField::place:
        if (found.places.size() == kMaxNamesAsked) throw std::out_of_range("places");
        found.places.push_back(get_place(pbf_message<PlaceField>(in.get_message())));
        break;
      default: in.skip();
    }
  }
  for (const ClrIlPlaces::Place& place : found.places) {
    if (place.il.assembly >= static_cast<std::int64_t>(found.assemblies.size())) throw std::out_of_range("assembly");
  }
  return found;
}

std::uint32_t get_first(pbf_message<AskBlocksField> in) {
  std::uint32_t first = 0;
  while (in.next()) {
    if (in.tag() == AskBlocksField::first) {
      first = in.get_uint32();
    } else {
      in.skip();
    }
  }
  return first;
}

OpenClr get_open(pbf_message<OpenField> in) {
  OpenClr open{.version = 0};
  while (in.next()) {
    switch (in.tag()) {
      case OpenField::version: open.version = in.get_uint32(); break;
      case OpenField::dac_path: open.dac_path = in.get_string(); break;
      case OpenField::process: open.process = in.get_fixed64(); break;
      case OpenField::dump_path: open.dump_path = in.get_string(); break;
      case OpenField::symbol_path: open.symbol_path = in.get_string(); break;
      case OpenField::runtime_base: open.runtime_base = in.get_fixed64(); break;
      default: in.skip();
    }
  }
  return open;
}

struct Encoder {
  std::string& bytes;

  void operator()(const OpenClr& open) const {
    MessageBuilder<Outer> outer(bytes);
    MessageBuilder<OpenField> out(outer, Outer::open);
    out.add_uint32(OpenField::version, open.version);
    out.add_string(OpenField::dac_path, open.dac_path);
    out.add_fixed64(OpenField::process, open.process);
    out.add_string(OpenField::dump_path, open.dump_path);
    out.add_fixed64(OpenField::runtime_base, open.runtime_base);
    out.add_string(OpenField::symbol_path, open.symbol_path);
  }
  void operator()(const AskCode& ask) const { put_addresses(bytes, Outer::ask_code, ask.ips); }
  void operator()(const AskMethods& ask) const { put_addresses(bytes, Outer::ask_methods, ask.methods); }
  void operator()(const AskCodeNames& ask) const { put_addresses(bytes, Outer::ask_code_names, ask.addresses); }
  void operator()(const AskThreads&) const { put_empty(bytes, Outer::ask_threads); }
  void operator()(const TargetRan&) const { put_empty(bytes, Outer::target_ran); }
  void operator()(const Opened&) const { put_empty(bytes, Outer::opened); }
  void operator()(const NotOpened& answer) const {
    MessageBuilder<Outer> outer(bytes);
    MessageBuilder<TextField> out(outer, Outer::not_opened);
    add_text(out, TextField::text, answer.why);
  }
  void operator()(const CodeAnswer& answer) const {
    put_list(bytes, Outer::codes, answer.codes, [](auto& list, const std::optional<ClrCode>& code) {
      MessageBuilder<CodeField> out(list, ListField::entry);
      if (!code) return out.add_uint32(CodeField::none, 1);
      out.add_fixed64(CodeField::method, code->method);
      out.add_fixed64(CodeField::start, code->start);
      out.add_uint64(CodeField::hot_bytes, code->hot_bytes);
      out.add_fixed64(CodeField::cold_start, code->cold_start);
      out.add_uint64(CodeField::cold_bytes, code->cold_bytes);
      out.add_fixed64(CodeField::gc_info, code->gc_info);
      out.add_uint32(CodeField::jitted, code->jitted ? 1 : 0);
    });
  }
  void operator()(const MethodsAnswer& answer) const {
    put_list(bytes, Outer::methods, answer.methods, [](auto& list, const ClrMethod& method) {
      MessageBuilder<MethodField> out(list, ListField::entry);
      add_text(out, MethodField::name, method.name);
      out.add_uint32(MethodField::stub, method.stub ? 1 : 0);
      add_text(out, MethodField::import, method.import);
      out.add_uint32(MethodField::com, method.com ? 1 : 0);
    });
  }
  void operator()(const CodeNamesAnswer& answer) const {
    put_list(bytes, Outer::code_names, answer.names, [](auto& list, const std::string& name) {
      MessageBuilder<TextField> out(list, ListField::entry);
      add_text(out, TextField::text, name);
    });
  }
  void operator()(const ThreadsAnswer& answer) const {
    put_list(bytes, Outer::threads, answer.threads, [](auto& list, const ClrThread& thread) {
      MessageBuilder<ThreadField> out(list, ListField::entry);
      out.add_fixed64(ThreadField::address, thread.address);
      out.add_uint32(ThreadField::os_id, thread.os_id);
      out.add_uint32(ThreadField::managed_id, thread.managed_id);
      out.add_fixed64(ThreadField::domain, thread.domain);
      out.add_bool(ThreadField::cooperative, thread.cooperative);
      out.add_bool(ThreadField::pauses, thread.pauses);
    });
  }
  void operator()(const AskSyncBlocks& ask) const {
    MessageBuilder<Outer> outer(bytes);
    MessageBuilder<AskBlocksField> out(outer, Outer::ask_sync_blocks);
    out.add_uint32(AskBlocksField::first, ask.first);
  }
  void operator()(const AskObjectTypes& ask) const { put_addresses(bytes, Outer::ask_object_types, ask.objects); }
  void operator()(const AskHeapObjectTypes& ask) const {
    put_addresses(bytes, Outer::ask_heap_object_types, ask.addresses);
  }
  void operator()(const AskLockObjects& ask) const { put_addresses(bytes, Outer::ask_lock_objects, ask.objects); }
  void operator()(const LockObjectsAnswer& answer) const {
    put_list(bytes, Outer::lock_objects, answer.locks, [](auto& list, const std::optional<ClrLock>& lock) {
      MessageBuilder<LockField> out(list, ListField::entry);
      if (!lock) return out.add_uint32(LockField::none, 1);
      out.add_uint32(LockField::owner, lock->owner);
      out.add_uint32(LockField::recursion, lock->recursion);
      out.add_uint32(LockField::held, lock->held ? 1 : 0);
      for (const std::uint64_t address : lock->kept) out.add_fixed64(LockField::kept, address);
      out.add_uint32(LockField::reader_writer, lock->reader_writer ? 1 : 0);
    });
  }
  void operator()(const SyncBlocksAnswer& answer) const {
    MessageBuilder<Outer> outer(bytes);
    MessageBuilder<BlocksField> out(outer, Outer::sync_blocks);
    out.add_uint32(BlocksField::next, answer.blocks.next);
    out.add_uint32(BlocksField::unreadable, answer.blocks.unreadable ? 1 : 0);
    for (const ClrSyncBlock& block : answer.blocks.blocks) {
      MessageBuilder<BlockField> inner(out, BlocksField::block);
      inner.add_fixed64(BlockField::address, block.address);
      inner.add_fixed64(BlockField::object, block.object);
      inner.add_fixed64(BlockField::owner, block.owner);
      inner.add_uint32(BlockField::recursion, block.recursion);
      inner.add_uint32(BlockField::held, block.held ? 1 : 0);
    }
  }
  void operator()(const AskIlPlaces& ask) const { put_addresses(bytes, Outer::ask_il_places, ask.ips); }
  void operator()(const IlPlacesAnswer& answer) const {
    if (answer.places == ClrIlPlaces{}) return put_empty(bytes, Outer::il_places);
    MessageBuilder<Outer> outer(bytes);
    MessageBuilder<PlacesField> out(outer, Outer::il_places);
    for (const Assembly& assembly : answer.places.assemblies) {
      MessageBuilder<AssemblyField> inner(out, PlacesField::assembly);
      add_text(inner, AssemblyField::path, assembly.path);
      inner.add_bytes(AssemblyField::mvid, reinterpret_cast<const char*>(assembly.mvid.data()), assembly.mvid.size());
      inner.add_uint32(AssemblyField::optimised, assembly.optimised ? 1 : 0);
    }
    for (const ClrIlPlaces::Place& place : answer.places.places) {
      MessageBuilder<PlaceField> inner(out, PlacesField::place);
      if (place.il.assembly < 0) {
        inner.add_uint32(PlaceField::none, 1);
        continue;
      }
      inner.add_uint32(PlaceField::assembly, static_cast<std::uint32_t>(place.il.assembly));
      inner.add_uint32(PlaceField::token, place.il.method);
      inner.add_uint32(PlaceField::offset, place.il.offset);
      inner.add_fixed64(PlaceField::method, place.method);
    }
  }
  void operator()(const ObjectTypesAnswer& answer) const {
    put_list(bytes, Outer::object_types, answer.types, [](auto& list, const std::string& type) {
      MessageBuilder<TextField> out(list, ListField::entry);
      add_text(out, TextField::text, type);
    });
  }
};

QuestionMessage get_message(pbf_message<Outer>& outer) {
  switch (outer.tag()) {
    case Outer::open: return get_open(pbf_message<OpenField>(outer.get_message()));
    case Outer::ask_code: return AskCode{get_addresses(pbf_message<AddressesField>(outer.get_message()))};
    case Outer::ask_methods: return AskMethods{get_addresses(pbf_message<AddressesField>(outer.get_message()))};
    case Outer::ask_code_names:
      return AskCodeNames{get_addresses(pbf_message<AddressesField>(outer.get_message()))};
    case Outer::ask_threads: outer.skip(); return AskThreads{};
    case Outer::target_ran: outer.skip(); return TargetRan{};
    case Outer::opened: outer.skip(); return Opened{};
    case Outer::not_opened: return NotOpened{get_only_text(pbf_message<TextField>(outer.get_message()))};
    case Outer::codes:
      return CodeAnswer{get_list<std::optional<ClrCode>, CodeField>(
          pbf_message<ListField>(outer.get_message()), kMaxAsked, get_code)};
    case Outer::methods:
      return MethodsAnswer{get_list<ClrMethod, MethodField>(pbf_message<ListField>(outer.get_message()),
                                                            kMaxAsked, get_method)};
    case Outer::code_names:
      return CodeNamesAnswer{get_list<std::string, TextField>(pbf_message<ListField>(outer.get_message()),
                                                              kMaxAsked, get_only_text)};
    case Outer::ask_sync_blocks: return AskSyncBlocks{get_first(pbf_message<AskBlocksField>(outer.get_message()))};
    case Outer::ask_object_types:
      return AskObjectTypes{get_addresses(pbf_message<AddressesField>(outer.get_message()))};
    case Outer::ask_heap_object_types:
      return AskHeapObjectTypes{get_addresses(pbf_message<AddressesField>(outer.get_message()))};
    case Outer::ask_lock_objects:
      return AskLockObjects{get_addresses(pbf_message<AddressesField>(outer.get_message()))};
    case Outer::ask_il_places: return AskIlPlaces{get_addresses(pbf_message<AddressesField>(outer.get_message()))};
    case Outer::il_places: return IlPlacesAnswer{get_places(pbf_message<PlacesField>(outer.get_message()))};
    case Outer::lock_objects:
      return LockObjectsAnswer{get_list<std::optional<ClrLock>, LockField>(pbf_message<ListField>(outer.get_message()),
                                                                           kMaxAsked, get_lock)};
    case Outer::sync_blocks:
      return SyncBlocksAnswer{get_blocks(pbf_message<BlocksField>(outer.get_message()))};
    case Outer::object_types:
      return ObjectTypesAnswer{get_list<std::string, TextField>(pbf_message<ListField>(outer.get_message()),
                                                                kMaxAsked, get_only_text)};
    case Outer::threads:
      return ThreadsAnswer{get_list<ClrThread, ThreadField>(pbf_message<ListField>(outer.get_message()),
                                                            kMaxClrThreads, get_thread)};
  }
  throw std::out_of_range("message");
}

}  // namespace

std::string encode_question(const QuestionMessage& message) {
  std::string bytes;
  std::visit(Encoder{bytes}, message);
  std::string framed(4, '\0');
  const auto length = static_cast<std::uint32_t>(bytes.size());
  for (int i = 0; i < 4; ++i) framed[i] = static_cast<char>(length >> 8 * i);
  return framed += bytes;
}

std::optional<QuestionMessage> decode_question(std::string_view bytes) {
  if (bytes.size() > kMaxQuestionBytes) return std::nullopt;
  try {
    pbf_message<Outer> outer(bytes.data(), bytes.size());
    if (!outer.next()) return std::nullopt;
    QuestionMessage message = get_message(outer);
    if (outer.next()) return std::nullopt;
    return message;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<std::size_t> question_length(std::string_view bytes) noexcept {
  if (bytes.size() != 4) return std::nullopt;
  std::uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > kMaxQuestionBytes) return std::nullopt;
  return length;
}

}  // namespace mixwalk
