// Debian's compiler-rt for wasm is built with stack protection, but its C library lacks the two symbols.
#include <stdint.h>

uintptr_t __stack_chk_guard = 0x5a54564d;

_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }
