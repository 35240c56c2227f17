#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "walker/base/checked_protozero.h"

namespace mixwalk {

// Thrown if bytes are not the message that they should be. It says why, as a literal.
struct Malformed : std::exception {
  explicit Malformed(const char* reason) noexcept : why(reason) {}
  const char* what() const noexcept override { return why; }
  const char* why;
};

inline void require(bool holds, const char* why) {
  if (!holds) throw Malformed(why);
}

// Writes or reads the fields of one protobuf message. A message is described once, by a mapping: a function that names
// each field with its number, in the order in which the fields are written.
//
//   void fields(MessageIO& io, LockWaiter& waiter) {
//     io.varint(1, waiter.os_id);
//     io.varint(2, waiter.pulse, false);  // is left out if it is false
//   }
//
// When it writes, a mapping must not change the value. When it reads, the mapping is called until all fields of the
// message are read: each call reads the fields that come in the mapping's order, so fields that come in another order
// need further calls. Fields that the mapping does not name are skipped. A missing field leaves its value as it is, and
// of a field that comes twice, the last one counts (nested messages are merged).
//
// Every function for a field returns whether it has read the field: never when it writes. All of them throw
// std::bad_alloc, and when they read, what fault_of() catches. Not frozen-safe.
class MessageIO {
 public:
  using Number = protozero::pbf_tag_type;
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
  template <class Value>
  using Mapping = void (*)(MessageIO&, std::type_identity_t<Value>&);

  // Appends the fields to `bytes`.
  explicit MessageIO(std::string& bytes) noexcept : MessageIO(protozero::pbf_writer(bytes)) {}

  bool is_writing() const noexcept { return writes_; }

  // Values up to the largest one of their type. When it reads, every number except 0 is true.
  bool varint(Number number, std::uint64_t& value);
  bool varint(Number number, std::uint32_t& value);
  bool varint(Number number, std::uint16_t& value);
  bool varint(Number number, std::uint8_t& value);
  bool varint(Number number, bool& value);
  bool int32(Number number, std::int32_t& value);
  bool fixed64(Number number, std::uint64_t& value);
  bool string(Number number, std::string& value);
  bool guid(Number number, std::array<std::byte, 16>& value, const char* why);  // why: if it has another length
  // A repeated field, with as many values as there are, or fewer.
  void fixed64s(Number number, std::span<std::uint64_t> values);
  // `value` views the message.
  bool bytes(Number number, std::string_view& value);
  // The values from 0 to `last`.
  template <class Enum>
  bool enumeration(Number number, Enum& value, std::type_identity_t<Enum> last) {
    auto wide = static_cast<std::uint64_t>(value);
    if (!integer(number, wide, static_cast<std::uint64_t>(last), "an enumeration's value is not known")) return false;
    value = static_cast<Enum>(wide);
    return true;
  }

  // The same for a field that is left out if it has the value `absent`.
  template <class Value>
  bool varint(Number number, Value& value, std::type_identity_t<Value> absent) {
    return !(writes_ && value == absent) && varint(number, value);
  }
  bool int32(Number number, std::int32_t& value, std::int32_t absent) {
    return !(writes_ && value == absent) && int32(number, value);
  }
  bool fixed64(Number number, std::uint64_t& value, std::uint64_t absent) {
    return !(writes_ && value == absent) && fixed64(number, value);
  }
  bool string(Number number, std::string& value, std::string_view absent) {
    return !(writes_ && value == absent) && string(number, value);
  }
  template <class Enum>
  bool enumeration(Number number, Enum& value, std::type_identity_t<Enum> last, std::type_identity_t<Enum> absent) {
    return !(writes_ && value == absent) && enumeration(number, value, last);
  }

  // Packed fields. An empty one is left out.
  bool packed_fixed64(Number number, std::vector<std::uint64_t>& values, std::size_t most);
  // The varints, whatever their type is. When it writes, an empty content is left out.
  bool packed_varints(Number number, std::string_view& content);
  template <class Value, class To, class From>
  void packed_varints(Number number, std::vector<Value>& values, To to_number, From from_number) {
    std::string written;
    if (writes_) {
      for (const Value& value : values) protozero::write_varint(std::back_inserter(written), to_number(value));
    }
    std::string_view content = written;
    if (!packed_varints(number, content)) return;
    for (const char* at = content.data(); at != content.data() + content.size();) {
      values.push_back(from_number(protozero::decode_varint(&at, content.data() + content.size())));
    }
  }

  // A nested message, or one that may be missing. It is left out if its mapping writes no field.
  template <class Map>
  bool nested(Number number, Map map) {
    return nested(number, &map, [](MessageIO& io, void* to) { (*static_cast<Map*>(to))(io); }, false);
  }
  template <class Value>
  bool message(Number number, Value& value, Mapping<Value> mapping) {
    return nested(number, [&](MessageIO& io) { mapping(io, value); });
  }
  template <class Value>
  bool message(Number number, std::optional<Value>& value, Mapping<Value> mapping) {
    if (writes_ ? !value.has_value() : !is_next(number)) return false;
    if (!writes_) value.emplace();
    return message(number, *value, mapping);
  }
  // For a writer that writes the rows of its lists one by one.
  template <class Value>
  void put(Number number, const Value& value, Mapping<Value> mapping) {
    message(number, const_cast<Value&>(value), mapping);
  }
  template <class Value, class Map>
  void put(Number number, const Value& value, Map map) {
    nested(number, [&](MessageIO& io) { map(io, const_cast<Value&>(value)); });
  }

  // For a mapping that remembers something, or checks something at the end: calls `map` until all fields are read. When
  // it writes, once.
  template <class Map>
  void all(Map map) {
    const Callback call = [](MessageIO& io, void* to) { (*static_cast<Map*>(to))(io); };
    if (writes_) {
      call(*this, &map);
    } else {
      read_all(&map, call);
    }
  }

  // A field that is repeated: `one` maps it for one row of the list, which has at most so many rows when it is read.
  template <class Row, class One>
  void repeated(Number number, std::vector<Row>& rows, std::size_t most, One one,
                const char* too_many = "a list is too long") {
    if (writes_) {
      for (Row& row : rows) one(row);
      return;
    }
    while (is_next(number)) {
      require(rows.size() < most, too_many);
      one(rows.emplace_back());
    }
  }
  template <class Row>
  void messages(Number number, std::vector<Row>& rows, std::size_t most, Mapping<Row> mapping,
                const char* too_many = "a list is too long") {
    repeated(number, rows, most, [&](Row& row) { message(number, row, mapping); }, too_many);
  }

  // The message of one kind among several, of which the outer message has exactly one. `absent`: its value if all its
  // fields are missing.
  template <class Kind, class OneOf>
  bool one_of(Number number, OneOf& outer, Mapping<Kind> mapping, Kind absent = {}) {
    Kind* inner = std::get_if<Kind>(&outer);
    if (writes_ ? inner == nullptr : !is_next(number)) return false;
    if (!writes_) inner = &outer.template emplace<Kind>(std::move(absent));
    auto map = [&](MessageIO& io) { mapping(io, *inner); };
    nested(number, &map, [](MessageIO& io, void* to) { (*static_cast<decltype(map)*>(to))(io); }, true);
    require(next_ == 0, "it is more than one message");
    return !writes_;
  }

  // Reads all fields of a message.
  template <class Map>
  static void read(std::string_view bytes, Map map) {
    MessageIO(bytes, nullptr).all(std::move(map));
  }
  // The same for a message with one_of().
  template <class OneOf>
  static void read_one(std::string_view bytes, OneOf& outer, Mapping<OneOf> mapping) {
    MessageIO io(bytes, nullptr);
    io.moved_ = false;
    mapping(io, outer);
    require(io.moved_, "it is of no known kind");
  }

 private:
  using Callback = void (*)(MessageIO&, void*);

  explicit MessageIO(protozero::pbf_writer out) noexcept : out_(std::move(out)), writes_(true) {}
  MessageIO(std::string_view bytes, std::nullptr_t) : in_(bytes.data(), bytes.size()) { go_on(); }

  bool is_next(Number number) const noexcept { return next_ == number; }
  bool integer(Number number, std::uint64_t& value, std::uint64_t most, const char* why);
  template <class Value>
  bool narrow(Number number, Value& value);
  bool nested(Number number, void* context, Callback map, bool also_empty);
  void read_all(void* context, Callback map);
  bool go_on();

  protozero::pbf_writer out_;
  protozero::pbf_reader in_;
  Number next_ = 0;  // reading: the field that comes next; 0 at the end
  bool writes_ = false;
  bool moved_ = false;  // whether a field was written or read
};

// Runs `read`, and returns why the bytes that it reads are refused, as a literal. Empty if they are not.
std::string_view fault_of(void* context, void (*read)(void*));
template <class Read>
std::string_view fault_of(Read read) {
  return fault_of(&read, [](void* to) { (*static_cast<Read*>(to))(); });
}

// Appends the fields of `value` to `bytes`.
template <class Value>
void write_message(std::string& bytes, const Value& value, MessageIO::Mapping<Value> mapping) {
  MessageIO io(bytes);
  mapping(io, const_cast<Value&>(value));
}

// For the messages of a pipe, of which each is one of several kinds (MessageIO::one_of). Returns nothing if the bytes
// are not exactly one whole message of a known kind. Throws nothing except std::bad_alloc.
template <class OneOf>
std::optional<OneOf> read_one_of(std::string_view bytes, MessageIO::Mapping<OneOf> mapping) {
  std::optional<OneOf> message(std::in_place);
  const auto fault = fault_of([&] { MessageIO::read_one(bytes, *message, mapping); });
  if (!fault.empty()) message.reset();
  return message;
}

}  // namespace mixwalk
