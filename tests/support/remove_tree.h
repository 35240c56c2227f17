#pragma once

#include <filesystem>

namespace mixwalk {

// Removes a file, or a folder with all that is in it. Returns once nothing is there any more, or after 10 s: false. What a
// link leads to stays; but libstdc++ 12 for Windows knows no links, so no test may put one to a folder in there.
//
// Folklore: a file that is deleted while another program has it open vanishes only when that program closes it. Real
// case: std::filesystem::remove_all of libstdc++ 12 for Windows listed such a file, the file vanished, and remove_all
// went round for ever: it looked for the file, listed the folder, looked for the file. (run_tests_test hung so, in one
// whole run of the tests out of some five; a program of nothing but open files, a thread that closes them, and
// remove_all hung in its 55th round.) Remedy: each thing that was listed is removed once, whatever comes of that, and
// then the whole again.
[[nodiscard]] bool remove_tree(const std::filesystem::path& path);

}  // namespace mixwalk
