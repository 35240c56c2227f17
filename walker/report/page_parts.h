#pragma once

#include <string_view>

// The fixed parts of the HTML report, as bundle.cmake puts them into the program. They are unpacked when the first of them
// is asked for, and stay.
namespace mixwalk::page_parts {

std::string_view html();       // page/report.html
std::string_view style();      // page/report.css
std::string_view script();     // page/*.js, one after the other
std::string_view libraries();  // scripts of others, each with its licence
// A style sheet that one of the libraries adds to the page by itself.
std::string_view library_style();

}  // namespace mixwalk::page_parts
