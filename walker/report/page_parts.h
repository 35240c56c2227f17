#pragma once

#include <string_view>

// The fixed parts of the HTML report. bundle.py compiles these parts into the program. They are unpacked when one of
// them is first used, and stay in memory.
namespace mixwalk::page_parts {

std::string_view html();       // page/report.html
std::string_view style();      // page/report.css
std::string_view script();     // page/*.js, one after another
std::string_view libraries();  // scripts by other authors, each with its licence
// A style sheet that one of the libraries adds to the page by itself.
std::string_view library_style();

}  // namespace mixwalk::page_parts
