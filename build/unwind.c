/* Stands in for libgcc_s in the release program (see build.rs). That program aborts on panic and carries no unwind
 * tables, so that there is nothing to unwind: a backtrace is empty, and everything else is never called. Without the
 * shared library a start is a tenth of a millisecond shorter, and hooks start twice at each commit. */
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
