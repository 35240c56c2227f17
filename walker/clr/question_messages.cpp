#include "walker/clr/question_messages.h"

#include "walker/base/utf8.h"
#include "walker/wire/message_io.h"

namespace mixwalk {
namespace {

void text(MessageIO& io, MessageIO::Number number, std::string& text, std::size_t most = kMaxNameBytes) {
  std::string_view view = cut_text(text, most);
  if (!io.bytes(number, view)) return;
  require(view.size() <= most, "a text is too long");
  text = valid_utf8(view);
  text.resize(cut_text(text, most).size());  // a byte that is no character has become three bytes
}

// Each entry of a list is a separate message, whatever its content.
void texts(MessageIO& io, std::vector<std::string>& list) {
  io.repeated(1, list, kMaxAsked, [&](std::string& entry) {
    io.nested(1, [&](MessageIO& inner) { text(inner, 1, entry); });
  });
}

// An entry of which nothing may be known. `absent`: the field that says so, because a message without fields would be
// left out. Returns whether such an entry was read.
template <class Entry>
bool entry(MessageIO& io, MessageIO::Number number, Entry* known, MessageIO::Number absent,
           MessageIO::Mapping<Entry> mapping) {
  bool is_absent = known == nullptr;
  io.nested(number, [&](MessageIO& inner) {
    inner.varint(absent, is_absent, false);
    if (known != nullptr) mapping(inner, *known);
  });
  return is_absent && !io.is_writing();
}

template <class Entry>
void entries(MessageIO& io, std::vector<std::optional<Entry>>& list, MessageIO::Number absent,
             MessageIO::Mapping<Entry> mapping) {
  io.repeated(1, list, kMaxAsked, [&](std::optional<Entry>& one) {
    if (!io.is_writing()) one.emplace();
    if (entry(io, 1, one ? &*one : nullptr, absent, mapping)) one.reset();
  });
}

void fields(MessageIO& io, ClrCode& code) {
  io.fixed64(1, code.method);
  io.fixed64(2, code.start);
  io.varint(3, code.hot_bytes);
  io.fixed64(4, code.cold_start);
  io.varint(5, code.cold_bytes);
  io.fixed64(6, code.gc_info);
  io.varint(7, code.jitted);
}

void fields(MessageIO& io, ClrMethod& method) {
  text(io, 1, method.name);
  io.varint(2, method.stub);
  text(io, 3, method.import);
  io.varint(4, method.com);
}

void fields(MessageIO& io, ClrThread& thread) {
  io.fixed64(1, thread.address);
  io.varint(2, thread.os_id);
  io.varint(3, thread.managed_id);
  io.fixed64(4, thread.domain);
  io.varint(5, thread.cooperative);
  io.varint(6, thread.pauses);
  io.fixed64(7, thread.thrown, 0);
  io.fixed64(8, thread.object, 0);
  io.varint(9, thread.state, 0);
}

void fields(MessageIO& io, ClrSyncBlock& block) {
  io.fixed64(1, block.address);
  io.fixed64(2, block.object);
  io.fixed64(3, block.owner);
  io.varint(4, block.recursion);
  io.varint(5, block.held);
}

void fields(MessageIO& io, ClrField& field) {
  text(io, 1, field.name, kMaxFieldNameBytes);
  io.varint(2, field.offset);
  io.varint(3, field.element);
  io.fixed64(4, field.type, 0);
}

void fields(MessageIO& io, ClrType& type) {
  text(io, 1, type.name);
  io.fixed64(2, type.parent, 0);
  io.varint(3, type.base_bytes);
  io.varint(4, type.component_bytes);
  io.messages(5, type.fields, kMaxTypeFields, fields);
}

void fields(MessageIO& io, ClrLock& lock) {
  io.varint(1, lock.owner);
  io.varint(2, lock.recursion);
  io.varint(3, lock.held);
  io.fixed64s(4, lock.kept);
  io.varint(6, lock.reader_writer);
  io.varint(7, lock.semaphore);
}

void fields(MessageIO& io, CodeViewId& id) {
  io.guid(1, id.guid, "a PDB's id is no GUID");
  io.varint(2, id.age);
  io.varint(3, id.timestamp);
  io.varint(4, id.portable);
  text(io, 5, id.path);
}

void fields(MessageIO& io, Assembly& assembly) {
  text(io, 1, assembly.path);
  io.guid(2, assembly.mvid, "an MVID is no GUID");
  io.varint(3, assembly.optimised);
  io.message(4, assembly.pdb, fields);
}

void fields(MessageIO& io, ClrIlPlaces::Place& place) {
  if (io.int32(1, place.il.assembly)) require(place.il.assembly >= 0, "a place's assembly does not exist");
  io.varint(2, place.il.method);
  io.varint(3, place.il.offset);
  io.fixed64(4, place.method);
}

void fields(MessageIO& io, OpenClr& open) {
  io.varint(1, open.version);
  io.string(2, open.dac_path);
  io.fixed64(3, open.process);
  io.string(4, open.dump_path);
  io.fixed64(5, open.runtime_base);
  io.string(6, open.symbol_path);
}
void fields(MessageIO& io, AskCode& ask) { io.packed_fixed64(1, ask.ips, kMaxAsked); }
void fields(MessageIO& io, AskMethods& ask) { io.packed_fixed64(1, ask.methods, kMaxAsked); }
void fields(MessageIO& io, AskCodeNames& ask) { io.packed_fixed64(1, ask.addresses, kMaxAsked); }
void fields(MessageIO&, AskThreads&) {}
void fields(MessageIO& io, AskSyncBlocks& ask) { io.varint(1, ask.first); }
void fields(MessageIO& io, AskObjectTypes& ask) { io.packed_fixed64(1, ask.objects, kMaxAsked); }
void fields(MessageIO& io, AskTypes& ask) { io.packed_fixed64(1, ask.method_tables, kMaxTypesAsked); }
void fields(MessageIO&, AskHeap&) {}
void fields(MessageIO& io, AskHeapObjectTypes& ask) { io.packed_fixed64(1, ask.addresses, kMaxAsked); }
void fields(MessageIO& io, AskLockObjects& ask) { io.packed_fixed64(1, ask.objects, kMaxAsked); }
void fields(MessageIO& io, AskIlPlaces& ask) { io.packed_fixed64(1, ask.ips, kMaxAsked); }
void fields(MessageIO& io, AskMachinePlaces& ask) { io.packed_fixed64(1, ask.method_tables, kMaxAsked); }
void fields(MessageIO&, TargetRan&) {}

void fields(MessageIO&, Opened&) {}
void fields(MessageIO& io, NotOpened& answer) { text(io, 1, answer.why); }
void fields(MessageIO& io, CodeAnswer& answer) { entries(io, answer.codes, 8, fields); }
void fields(MessageIO& io, MethodsAnswer& answer) { io.messages(1, answer.methods, kMaxAsked, fields); }
void fields(MessageIO& io, CodeNamesAnswer& answer) { texts(io, answer.names); }
void fields(MessageIO& io, ThreadsAnswer& answer) { io.messages(1, answer.threads, kMaxClrThreads, fields); }
void fields(MessageIO& io, SyncBlocksAnswer& answer) {
  io.varint(1, answer.blocks.next);
  io.varint(3, answer.blocks.unreadable);
  io.messages(2, answer.blocks.blocks, kMaxSyncBlocks, fields);
}
void fields(MessageIO& io, ObjectTypesAnswer& answer) { texts(io, answer.types); }
void fields(MessageIO& io, TypesAnswer& answer) { io.messages(1, answer.types, kMaxTypesAsked, fields); }
void fields(MessageIO& io, HeapPart& part) {
  io.fixed64(1, part.begin);
  io.fixed64(2, part.end);
  io.fixed64(3, part.limit);
}
void fields(MessageIO& io, HeapAnswer::Room& room) {
  io.fixed64(1, room.begin);
  io.fixed64(2, room.next);
}
void fields(MessageIO& io, HeapAnswer& answer) {
  io.messages(1, answer.parts, kMaxHeapParts, fields);
  io.messages(2, answer.rooms, kMaxClrThreads + kMaxHeapRooms, fields);
}
void fields(MessageIO& io, LockObjectsAnswer& answer) { entries(io, answer.locks, 5, fields); }
void fields(MessageIO& io, IlPlacesAnswer& answer) {
  io.all([&](MessageIO& all) {
    all.messages(1, answer.places.assemblies, kMaxNamesAsked, fields);
    all.repeated(2, answer.places.places, kMaxNamesAsked, [&](ClrIlPlaces::Place& place) {
      if (!io.is_writing()) place.il.assembly = 0;
      if (entry(all, 2, place.il.assembly >= 0 ? &place : nullptr, 5, fields)) place = {};
    });
  });
  if (io.is_writing()) return;
  for (const ClrIlPlaces::Place& place : answer.places.places) {
    require(place.il.assembly < std::ssize(answer.places.assemblies), "a place's assembly does not exist");
  }
}

// The number of a message is that of its field in the outer message.
void fields(MessageIO& io, QuestionMessage& message) {
  io.one_of<OpenClr>(1, message, fields, {.version = 0});
  io.one_of<AskCode>(2, message, fields);
  io.one_of<AskMethods>(3, message, fields);
  io.one_of<AskCodeNames>(4, message, fields);
  io.one_of<AskThreads>(5, message, fields);
  io.one_of<TargetRan>(6, message, fields);
  io.one_of<Opened>(7, message, fields);
  io.one_of<NotOpened>(8, message, fields);
  io.one_of<CodeAnswer>(9, message, fields);
  io.one_of<MethodsAnswer>(10, message, fields);
  io.one_of<CodeNamesAnswer>(11, message, fields);
  io.one_of<ThreadsAnswer>(12, message, fields);
  io.one_of<AskSyncBlocks>(13, message, fields, {.first = 0});
  io.one_of<AskObjectTypes>(14, message, fields);
  io.one_of<SyncBlocksAnswer>(15, message, fields);
  io.one_of<ObjectTypesAnswer>(16, message, fields);
  io.one_of<AskLockObjects>(17, message, fields);
  io.one_of<LockObjectsAnswer>(18, message, fields);
  io.one_of<AskHeapObjectTypes>(19, message, fields);
  io.one_of<AskIlPlaces>(20, message, fields);
  io.one_of<IlPlacesAnswer>(21, message, fields);
  io.one_of<AskTypes>(22, message, fields);
  io.one_of<TypesAnswer>(23, message, fields);
  io.one_of<AskHeap>(24, message, fields);
  io.one_of<HeapAnswer>(25, message, fields);
  io.one_of<AskMachinePlaces>(26, message, fields);
}

}  // namespace

std::string encode_question(const QuestionMessage& message) {
  std::string bytes(4, '\0');
  write_message(bytes, message, fields);
  const auto length = static_cast<std::uint32_t>(bytes.size() - 4);
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(length >> 8 * i);
  return bytes;
}

std::optional<QuestionMessage> decode_question(std::string_view bytes) {
  if (bytes.size() > kMaxQuestionBytes) return std::nullopt;
  return read_one_of<QuestionMessage>(bytes, fields);
}

std::optional<std::size_t> question_length(std::string_view bytes) noexcept {
  if (bytes.size() != 4) return std::nullopt;
  std::uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > kMaxQuestionBytes) return std::nullopt;
  return length;
}

}  // namespace mixwalk
