#pragma once

#include <cstdint>
#include <string>

#include "walker/model/recording.h"
#include "walker/store/table_room.h"
#include "walker/wire/message_io.h"

namespace mixwalk {

// The messages of a .mixwalk file (layout.h). A field that is 0 or empty is left out, except for the first field of a
// row, because protozero leaves out a message without any fields, while the position of a row has a meaning. When they
// read, they do not check whether an index is valid.

// A thread's new name, which it got later.
struct ThreadName {
  std::uint64_t thread = 0;
  std::string name;
};

void header_fields(MessageIO& io, std::uint64_t& version, Recording& header);
void footer_fields(MessageIO& io, Recording& recording);

void row_fields(MessageIO& io, Module& module);
void row_fields(MessageIO& io, Assembly& assembly);
void row_fields(MessageIO& io, Recording::ThreadInfo& thread);
void row_fields(MessageIO& io, ThreadName& name);
void row_fields(MessageIO& io, Frame& frame);
void row_fields(MessageIO& io, Crash& crash);

// When they read, these subtract what they read from `room`.
void lock_rows(MessageIO& io, MessageIO::Number number, std::vector<Lock>& locks, TableRoom& room);
void row_fields(MessageIO& io, Lock& lock, TableRoom& room);
void handled_rows(MessageIO& io, MessageIO::Number number, std::vector<Recording::Handled>& handled, TableRoom& room);
void row_fields(MessageIO& io, Recording::Handled& handled, TableRoom& room);
void row_fields(MessageIO& io, Recording::EarlierDump& dump, TableRoom& room);
void row_fields(MessageIO& io, Recording::AsyncWork& work, TableRoom& room);
// The same as a nested message. When it reads, a later message replaces an earlier one, and all indices are checked.
void async_row(MessageIO& io, MessageIO::Number number, Recording::AsyncWork& work, TableRoom& room);

}  // namespace mixwalk
