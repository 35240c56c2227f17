#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "walker/cli/options/formats.h"

namespace mixwalk {

// The file for a recording if the command line names none: "orders-20261121-170721.mixwalk", in the current folder.
// Pure. `program`: the target's program, with or without folder and ".exe", UTF-8; it may contain anything. `when`: the
// local time.
std::string default_output(std::string_view program, const std::tm& when,
                           const RecordingFormat& format);

// The same name with a number, for the case that a file of that name exists: "orders-20261121-170721-2.mixwalk".
std::string numbered_output(std::string_view path, const RecordingFormat& format, int number);

// The file to which `mixwalk symbolise` writes a recording: "orders.symbolised.mixwalk" beside "orders.mixwalk". A file
// name without that extension gets ".symbolised.mixwalk" appended. Pure.
std::string symbolised_output(std::string_view input);

}  // namespace mixwalk
