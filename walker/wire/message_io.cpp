#include "walker/wire/message_io.h"

#include <cstring>
#include <stdexcept>

namespace mixwalk {
namespace {

constexpr const char* kTooLarge = "a number is too large";
constexpr const char* kNotPacked = "a column is not packed";

}  // namespace

bool MessageIO::go_on() {
  next_ = in_.next() ? in_.tag() : 0;
  return moved_ = true;
}

void MessageIO::read_all(void* context, Callback map) {
  while (next_ != 0) {
    moved_ = false;
    map(*this, context);
    if (moved_) continue;
    in_.skip();
    go_on();
  }
}

bool MessageIO::integer(Number number, std::uint64_t& value, std::uint64_t most, const char* why) {
  if (writes_) {
    out_.add_uint64(number, value);
    moved_ = true;
    return false;
  }
  if (!is_next(number)) return false;
  value = in_.get_uint64();
  require(value <= most, why);
  return go_on();
}

bool MessageIO::varint(Number number, std::uint64_t& value) {
  return integer(number, value, std::numeric_limits<std::uint64_t>::max(), kTooLarge);
}

template <class Value>
bool MessageIO::narrow(Number number, Value& value) {
  std::uint64_t wide = value;
  if (!integer(number, wide, std::numeric_limits<Value>::max(), kTooLarge)) return false;
  value = static_cast<Value>(wide);
  return true;
}

bool MessageIO::varint(Number number, std::uint32_t& value) { return narrow(number, value); }
bool MessageIO::varint(Number number, std::uint16_t& value) { return narrow(number, value); }
bool MessageIO::varint(Number number, std::uint8_t& value) { return narrow(number, value); }

// Folklore: protozero's get_bool reads its byte without checking that there is one. Real case: a message that ended
// with the field's tag made it read beyond the end. (Found by protocol_fuzz; corpus: bool_cut_off.)
bool MessageIO::varint(Number number, bool& value) {
  std::uint64_t wide = value;
  if (!varint(number, wide)) return false;
  value = wide != 0;
  return true;
}

bool MessageIO::int32(Number number, std::int32_t& value) {
  auto wide = static_cast<std::uint64_t>(std::int64_t{value});
  if (!varint(number, wide)) return false;
  value = static_cast<std::int32_t>(wide);
  require(static_cast<std::uint64_t>(std::int64_t{value}) == wide, kTooLarge);
  return true;
}

bool MessageIO::fixed64(Number number, std::uint64_t& value) {
  if (writes_) {
    out_.add_fixed64(number, value);
    moved_ = true;
    return false;
  }
  if (!is_next(number)) return false;
  value = in_.get_fixed64();
  return go_on();
}

void MessageIO::fixed64s(Number number, std::span<std::uint64_t> values) {
  for (std::uint64_t& value : values) fixed64(number, value);
  require(writes_ || !is_next(number), "a list is too long");
}

bool MessageIO::bytes(Number number, std::string_view& value) {
  if (writes_) {
    out_.add_bytes(number, value.data(), value.size());
    moved_ = true;
    return false;
  }
  if (!is_next(number)) return false;
  const auto view = in_.get_view();
  value = {view.data(), view.size()};
  return go_on();
}

bool MessageIO::string(Number number, std::string& value) {
  std::string_view view = value;
  if (!bytes(number, view)) return false;
  value = view;
  return true;
}

bool MessageIO::guid(Number number, std::array<std::byte, 16>& value, const char* why) {
  std::string_view view(reinterpret_cast<const char*>(value.data()), value.size());
  if (!bytes(number, view)) return false;
  require(view.size() == value.size(), why);
  std::memcpy(value.data(), view.data(), value.size());
  return true;
}

bool MessageIO::packed_fixed64(Number number, std::vector<std::uint64_t>& values, std::size_t most) {
  if (writes_) {
    out_.add_packed_fixed64(number, values.begin(), values.end());
    moved_ = moved_ || !values.empty();
    return false;
  }
  if (!is_next(number)) return false;
  const auto range = in_.get_packed_fixed64();
  require(range.size() <= most - values.size(), "a list is too long");
  values.insert(values.end(), range.begin(), range.end());
  return go_on();
}

bool MessageIO::packed_varints(Number number, std::string_view& content) {
  if (writes_ ? content.empty() : !is_next(number)) return false;
  require(writes_ || in_.has_wire_type(protozero::pbf_wire_type::length_delimited), kNotPacked);
  return bytes(number, content);
}

bool MessageIO::nested(Number number, void* context, Callback map, bool also_empty) {
  if (writes_) {
    bool is_empty = false;
    {
      MessageIO inner(protozero::pbf_writer(out_, number));
      map(inner, context);
      is_empty = !inner.moved_;
    }
    // Folklore: protozero removes a nested message that is left empty. Remedy: a message that may be empty is added
    // explicitly, or has a field that is always written. Test: QuestionMessages.EachComesBackAsItWas.
    if (is_empty && also_empty) out_.add_message(number, std::string());
    moved_ = moved_ || !is_empty || also_empty;
    return false;
  }
  if (!is_next(number)) return false;
  const auto view = in_.get_view();
  MessageIO({view.data(), view.size()}, nullptr).read_all(context, map);
  return go_on();
}

std::string_view fault_of(void* context, void (*read)(void*)) {
  try {
    read(context);
    return {};
  } catch (const Malformed& malformed) {
    return malformed.why;
  } catch (const protozero::exception&) {
    return "it is no protobuf message";
  } catch (const std::invalid_argument&) {
    return "a field has another type";
  }
}

}  // namespace mixwalk
