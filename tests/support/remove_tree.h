#pragma once

#include <filesystem>

namespace mixwalk {

// Removes a file, or a folder with everything in it. Returns true once nothing is left, or false after 10 s. The target
// of a link is not removed; but libstdc++ 12 for Windows does not know links, so no test may put a link to a folder in
// there.
//
// Folklore: a file that is deleted while another program has it open vanishes only when that program closes it. Real
// case: std::filesystem::remove_all of libstdc++ 12 for Windows listed such a file, the file vanished, and remove_all
// never ended: it looked for the file, listed the folder, and looked for the file again. (run_tests_test hung in this
// way in one whole run of the tests out of some five. A program with nothing but open files, a thread that closes them,
// and remove_all hung in its 55th round.) Remedy: each thing that was listed is removed once, whatever the result is,
// and then the whole is listed and removed again.
[[nodiscard]] bool remove_tree(const std::filesystem::path& path);

}  // namespace mixwalk
