#include "walker/outside/dac_name.h"

#include <gtest/gtest.h>
