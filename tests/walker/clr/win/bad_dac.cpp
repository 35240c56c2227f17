// A DLL that poses as a runtime's debugging library: it hangs, crashes or lies. Compiled once for each way (BAD_DAC).

#include <windows.h>

#include <unknwn.h>

#include <cstring>

#include "walker/clr/dac/dac_structures.h"
#include "walker/clr/dac/win/clr_process.h"
#include "walker/clr/dac/win/data_target.h"
#include "walker/clr/dac/win/sos_dac.h"

namespace {

#define HANGS_AT_ONCE 1
#define HANGS_LATER 2
#define CRASHES 3
#define LIES 4
#define OVERFLOWS 5

using mixwalk::dac::CodeHeaderData;

[[noreturn]] void hang() {
  while (true) Sleep(1000);
}
[[noreturn]] void crash() {
  *reinterpret_cast<volatile int*>(8) = 1;
  hang();
}
int overflow(volatile int depth) {
  volatile char page[4096] = {};
  page[depth % 4096] = 1;
  return overflow(depth + 1) + page[0];
}

void on_question() {
#if BAD_DAC == HANGS_LATER
  hang();
#elif BAD_DAC == CRASHES
  crash();
#elif BAD_DAC == OVERFLOWS
  overflow(0);
#endif
}

// Both interfaces have more methods than are called. Each further one behaves like a question.
HRESULT STDMETHODCALLTYPE any_question() {
  on_question();
  return S_OK;
}

HRESULT STDMETHODCALLTYPE query(void* self, REFIID, void** object) {
  *object = self;
  return S_OK;
}
ULONG STDMETHODCALLTYPE count(void*) { return 1; }

// Every call succeeds, and every answer is wrong.
HRESULT STDMETHODCALLTYPE lie_of_code(void*, std::uint64_t, CodeHeaderData* data) {
  on_question();
  std::memset(data, 0xFF, sizeof *data);
  return S_OK;
}
HRESULT STDMETHODCALLTYPE lie_of_name(void*, std::uint64_t, unsigned room, WCHAR* name, unsigned* units) {
  on_question();
  for (unsigned i = 0; i < room; ++i) name[i] = static_cast<WCHAR>(0xD800 + i % 0x400);  // not terminated
  *units = 0xFFFF'FFFF;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE lie_of_store(void*, mixwalk::dac::ThreadStoreData* data) {
  on_question();
  data->threads = 0x7FFF'FFFF;
  data->first_thread = 0x1000;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE lie_of_thread(void*, std::uint64_t, mixwalk::dac::ThreadData* data) {
  on_question();
  std::memset(data, 0xFF, sizeof *data);
  data->next_thread = 0x1000;  // the list never ends
  return S_OK;
}

// There are more sync blocks than any process has, and all of them are held.
HRESULT STDMETHODCALLTYPE lie_of_block(void*, unsigned number, mixwalk::dac::SyncBlockData* data) {
  on_question();
  std::memset(data, 0xFF, sizeof *data);
  data->is_free = 0;
  data->address = std::uint64_t{number} * 64;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE lie_of_object(void*, std::uint64_t, mixwalk::dac::ObjectData* data) {
  on_question();
  std::memset(data, 0xFF, sizeof *data);
  return S_OK;
}

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

struct Object {
  void** table;
};
void* process_table[64];
void* sos_table[128];
Object process{process_table}, sos{sos_table};

HRESULT STDMETHODCALLTYPE query_process(void*, REFIID iid, void** object) {
  *object = IsEqualIID(iid, mixwalk::dac::kIidSosDac) ? static_cast<void*>(&sos) : &process;
  return S_OK;
}

}  // namespace

extern "C" __declspec(dllexport) HRESULT STDMETHODCALLTYPE
CLRDataCreateInstance(REFIID, mixwalk::dac::IDataTarget*, void** object) {
#if BAD_DAC == HANGS_AT_ONCE
  hang();
#endif
  for (void*& method : process_table) method = slot(&any_question);
  for (void*& method : sos_table) method = slot(&any_question);
  process_table[0] = slot(&query_process);
  sos_table[0] = slot(&query);
  process_table[1] = process_table[2] = sos_table[1] = sos_table[2] = slot(&count);
  sos_table[3] = slot(&lie_of_store);
  sos_table[17] = slot(&lie_of_thread);
  sos_table[22] = slot(&lie_of_name);
  sos_table[26] = slot(&lie_of_code);
  sos_table[33] = slot(&lie_of_object);
  sos_table[35] = slot(&lie_of_name);
  sos_table[59] = slot(&lie_of_block);
  *object = &process;
  return S_OK;
}
