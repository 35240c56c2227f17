#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "walker/base/checked_protozero.h"
#include "walker/model/recording.h"
#include "walker/store/layout.h"
#include "walker/store/table_room.h"

namespace mixwalk {

// Each of these functions converts one message of a .mixwalk file to its value. They throw Nonsense, or what protozero
// throws. They do not check whether an index is valid.
Process get_process(protozero::pbf_message<layout::ProcessField> in);
Runtime get_runtime(protozero::pbf_message<layout::RuntimeField> in);
Module get_module(protozero::pbf_message<layout::ModuleField> in);
Assembly get_assembly(protozero::pbf_message<layout::AssemblyField> in);
Recording::ThreadInfo get_thread(protozero::pbf_message<layout::ThreadField> in);

// These subtract what they read from `room`.
Lock get_lock(protozero::pbf_message<layout::LockField> in, TableRoom& room);
Recording::EarlierDump get_earlier_dump(protozero::pbf_message<layout::EarlierDumpField> in, TableRoom& room);

Frame get_frame(protozero::pbf_message<layout::FrameField> in);

// A thread's new name, which it got later.
struct ThreadName {
  std::uint64_t thread = 0;
  std::string name;
};
ThreadName get_thread_name(protozero::pbf_message<layout::ThreadNameField> in);

}  // namespace mixwalk
