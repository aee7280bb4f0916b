/* Stands in for parts of libraries that the release program never needs and that every start pays for (see build.rs);
 * hooks start twice at each commit.
 *
 * libgcc_s: the program aborts on panic and carries no unwind tables, so that there is nothing to unwind: a backtrace is
 * empty, and everything else is never called. Without the shared library a start is a tenth of a millisecond shorter.
 *
 * pthread_getattr_np: Rust asks at the start where the stack ends, to put words to its overflow, and the C library
 * reads the map of the whole process to tell: another tenth. Without an answer an overflow ends the process with the
 * kernel's SIGSEGV, as it does in a C program. */
#include <errno.h>
#include <stdlib.h>

#pragma GCC visibility push(hidden)

/* _URC_END_OF_STACK */
int _Unwind_Backtrace(void *trace, void *argument) { (void)trace; (void)argument; return 5; }

#define NEVER(name) void name(void) { abort(); }
NEVER(_Unwind_GetDataRelBase)
NEVER(_Unwind_GetIP)
NEVER(_Unwind_GetIPInfo)
NEVER(_Unwind_GetLanguageSpecificData)
NEVER(_Unwind_GetRegionStart)
NEVER(_Unwind_GetTextRelBase)
NEVER(_Unwind_Resume)
NEVER(_Unwind_SetGR)
NEVER(_Unwind_SetIP)

int pthread_getattr_np(unsigned long thread, void *attributes) { (void)thread; (void)attributes; return ENOSYS; }
