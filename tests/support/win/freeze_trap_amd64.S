# The thunks in mixwalk_trapped.dll's import table. Windows x64 calling convention: rcx, rdx, r8, r9, xmm0-xmm3 hold
# arguments; r10 and r11 are free at a call.

    .intel_syntax noprefix

# FreezeTrapRecord::kMaxImports thunks of 16 bytes each. A thunk loads the import's number and jumps on.
    .text
    .globl  mixwalk_trap_thunks
    .p2align 4
mixwalk_trap_thunks:
    .set    number, 0
    .rept   256
    mov     r11d, number
    jmp     mixwalk_trap_pass
    .p2align 4
    .set    number, number + 1
    .endr

# If no thread is frozen, the code jumps directly to the import, with the caller's stack and return address. The import
# may return twice (setjmp) or never.
    .p2align 4
mixwalk_trap_pass:
    cmp     dword ptr mixwalk_trap_frozen[rip], 0
    jne     mixwalk_trap_record_call
    lea     r10, mixwalk_trap_originals[rip]
    jmp     [r10 + r11 * 8]

# Calls void mixwalk_trap_record(uint32_t import, uint64_t return_address), and continues with all arguments as they
# were.
    .def    mixwalk_trap_record_call; .scl 3; .type 32; .endef
    .seh_proc mixwalk_trap_record_call
mixwalk_trap_record_call:
    sub     rsp, 0x98
    .seh_stackalloc 0x98
    .seh_endprologue
    mov     [rsp + 0x20], r11
    mov     [rsp + 0x28], rcx
    mov     [rsp + 0x30], rdx
    mov     [rsp + 0x38], r8
    mov     [rsp + 0x40], r9
    mov     [rsp + 0x48], rax
    movups  [rsp + 0x50], xmm0
    movups  [rsp + 0x60], xmm1
    movups  [rsp + 0x70], xmm2
    movups  [rsp + 0x80], xmm3
    mov     ecx, r11d
    mov     rdx, [rsp + 0x98]
    call    mixwalk_trap_record
    mov     r11, [rsp + 0x20]
    mov     rcx, [rsp + 0x28]
    mov     rdx, [rsp + 0x30]
    mov     r8, [rsp + 0x38]
    mov     r9, [rsp + 0x40]
    mov     rax, [rsp + 0x48]
    movups  xmm0, [rsp + 0x50]
    movups  xmm1, [rsp + 0x60]
    movups  xmm2, [rsp + 0x70]
    movups  xmm3, [rsp + 0x80]
    add     rsp, 0x98
    lea     r10, mixwalk_trap_originals[rip]
    jmp     [r10 + r11 * 8]
    .seh_endproc
