#pragma once

#include <guiddef.h>

namespace mixwalk {

// The class of mixwalk.dll: {6B0F5A3C-3D0E-4C5B-9E57-2A6E5D1C84F1}
inline constexpr GUID kProfilerClsid = {
    0x6B0F5A3C, 0x3D0E, 0x4C5B, {0x9E, 0x57, 0x2A, 0x6E, 0x5D, 0x1C, 0x84, 0xF1}};
inline constexpr wchar_t kProfilerClsidText[] = L"{6B0F5A3C-3D0E-4C5B-9E57-2A6E5D1C84F1}";

}  // namespace mixwalk
