// A precompiled header must belong to a target; this file is all of that target's code.
