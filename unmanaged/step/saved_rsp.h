#pragma once

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/registers.h"

namespace mixwalk {

// Corrects the registers of a caller that unwind data led to, if the word that was taken for the return address is the
// caller's Rsp, which was pushed behind the real return address. Such a word points two words above itself, to the
// stack, where no code is. Returns whether it was one. Frozen-safe if `stack` is.
//
// Folklore: coreclr's OnHijackTripThread pushes a place for the return address, and then Rsp. Its unwind data describes
// neither. Situation: a GC has exchanged the return address of a method for this routine, and the thread that returned
// waits for the end of the GC. Every unwinder takes the pushed Rsp for the return address. Real case: under Wine 10,
// the stacks of 4 of 2,365 samples of hunt.exe expressions ended there. (Under Wine 8 no sample was there.) The routine
// of .NET 8, 9 and 10 is the same. Test: SavedRspBehindTheReturnAddress.
bool skip_saved_rsp(const MemoryReader& stack, Registers& caller) noexcept;

}  // namespace mixwalk
