#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// The async method to which a compiler's state machine belongs, by the name of the machine's type:
// "P+<Fetch>d__3" is "P.Fetch()". The parameters are unknown. Compilers: C#, and Visual Basic, whose types are called
// "P+VB$StateMachine_3_Fetch". The result is empty if the type is no such machine. Pure; not frozen-safe.
std::string method_of_state_machine(std::string_view type);
bool is_state_machine(std::string_view type);

// Whether both are types of the same machine, whatever their type arguments are: the code of a machine may be shared.
bool is_same_machine(std::string_view a, std::string_view b);

}  // namespace mixwalk
