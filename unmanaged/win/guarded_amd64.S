# The two frames of guarded.h that catch a fault. Each is what Microsoft's compiler makes of
#   __try { … } __except (FILTER(…)) { return 0; }
# The handlers of the frames between the fault and the guard run before the filter is called, and the system unwinds
# these frames before the code of __except runs, so that their termination handlers release locks. Windows x64 calling
# convention: rcx, rdx, r8; rbx rbp rdi rsi r12-r15 xmm6-xmm15 are the caller's.

    .intel_syntax noprefix
    .text

# The scope table of __C_specific_handler (exception handling of x64, SCOPE_TABLE_AMD64) has one scope. A fault in
# [\begin, \end) leads to \except if the filter says so.
    .macro  scope_table begin, end, filter, except
    .seh_handlerdata
    .long   1
    .rva    \begin, \end, \filter, \except
    .text
    .endm

# int mixwalk_guarded_copy(void* to, const void* from, size_t bytes)
    .globl  mixwalk_guarded_copy
    .def    mixwalk_guarded_copy; .scl 2; .type 32; .endef
    .seh_proc mixwalk_guarded_copy
    .seh_handler __C_specific_handler, @except
mixwalk_guarded_copy:
    push    rdi
    .seh_pushreg rdi
    push    rsi
    .seh_pushreg rsi
    .seh_endprologue
    mov     rdi, rcx
    mov     rsi, rdx
    mov     rcx, r8
.Lcopy:
    rep movsb
.Lcopy_end:
    mov     eax, 1
    pop     rsi
    pop     rdi
    ret
.Lcopy_fault:
    xor     eax, eax
    pop     rsi
    pop     rdi
    ret
    scope_table .Lcopy, .Lcopy_end, mixwalk_guard_filter, .Lcopy_fault
    .seh_endproc

# int mixwalk_guarded_call(void (*function)(void*), void* argument, mixwalk_repairs* repairs)
# Saves every register that a caller may need, and restores all of them from its own frame. The fault may be in code
# without unwind data, which cannot be relied on to say where it keeps these registers. mixwalk_call_filter finds
# `repairs` 0xC0 above the frame's Rsp.
    .globl  mixwalk_guarded_call
    .def    mixwalk_guarded_call; .scl 2; .type 32; .endef
    .seh_proc mixwalk_guarded_call
    .seh_handler __C_specific_handler, @except
mixwalk_guarded_call:
    push    rbp
    .seh_pushreg rbp
    push    rbx
    .seh_pushreg rbx
    push    rdi
    .seh_pushreg rdi
    push    rsi
    .seh_pushreg rsi
    push    r12
    .seh_pushreg r12
    push    r13
    .seh_pushreg r13
    push    r14
    .seh_pushreg r14
    push    r15
    .seh_pushreg r15
    sub     rsp, 0xC8
    .seh_stackalloc 0xC8
    movaps  [rsp + 0x20], xmm6
    .seh_savexmm xmm6, 0x20
    movaps  [rsp + 0x30], xmm7
    .seh_savexmm xmm7, 0x30
    movaps  [rsp + 0x40], xmm8
    .seh_savexmm xmm8, 0x40
    movaps  [rsp + 0x50], xmm9
    .seh_savexmm xmm9, 0x50
    movaps  [rsp + 0x60], xmm10
    .seh_savexmm xmm10, 0x60
    movaps  [rsp + 0x70], xmm11
    .seh_savexmm xmm11, 0x70
    movaps  [rsp + 0x80], xmm12
    .seh_savexmm xmm12, 0x80
    movaps  [rsp + 0x90], xmm13
    .seh_savexmm xmm13, 0x90
    movaps  [rsp + 0xA0], xmm14
    .seh_savexmm xmm14, 0xA0
    movaps  [rsp + 0xB0], xmm15
    .seh_savexmm xmm15, 0xB0
    .seh_endprologue
    mov     [rsp + 0xC0], r8
    mov     rax, rcx
    mov     rcx, rdx
.Lcall:
    call    rax
    nop                                         # the return address lies in the scope
.Lcall_end:
    mov     eax, 1
    jmp     .Lrestore
.Lcall_fault:
    xor     eax, eax
.Lrestore:
    movaps  xmm6, [rsp + 0x20]
    movaps  xmm7, [rsp + 0x30]
    movaps  xmm8, [rsp + 0x40]
    movaps  xmm9, [rsp + 0x50]
    movaps  xmm10, [rsp + 0x60]
    movaps  xmm11, [rsp + 0x70]
    movaps  xmm12, [rsp + 0x80]
    movaps  xmm13, [rsp + 0x90]
    movaps  xmm14, [rsp + 0xA0]
    movaps  xmm15, [rsp + 0xB0]
    add     rsp, 0xC8
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     rsi
    pop     rdi
    pop     rbx
    pop     rbp
    ret
    scope_table .Lcall, .Lcall_end, mixwalk_call_filter, .Lcall_fault
    .seh_endproc
