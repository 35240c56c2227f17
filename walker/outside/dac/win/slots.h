#pragma once

#include <unknwn.h>

// The place of a method in a table that mixwalk does not call: its parameters are left out, and calling it would
// be wrong.
#define MIXWALK_DAC_SLOT(name) virtual HRESULT STDMETHODCALLTYPE name() = 0
