# The two landing pads of guarded.h, with unwind data so that exception dispatch can walk them.
# Windows x64 calling convention: rcx, rdx, r8; rbx rbp rdi rsi r12-r15 xmm6-xmm15 are the caller's.

    .intel_syntax noprefix
    .text

# int mixwalk_guarded_copy(void* to, const void* from, size_t bytes)
    .globl  mixwalk_guarded_copy
    .def    mixwalk_guarded_copy; .scl 2; .type 32; .endef
    .seh_proc mixwalk_guarded_copy
mixwalk_guarded_copy:
    push    rdi
    .seh_pushreg rdi
    push    rsi
    .seh_pushreg rsi
    .seh_endprologue
    mov     rdi, rcx
    mov     rsi, rdx
    mov     rcx, r8
    .globl  mixwalk_guarded_copy_begin
mixwalk_guarded_copy_begin:
    rep movsb
    .globl  mixwalk_guarded_copy_end
mixwalk_guarded_copy_end:
    mov     eax, 1
    pop     rsi
    pop     rdi
    ret
    .globl  mixwalk_guarded_copy_fault
mixwalk_guarded_copy_fault:
    xor     eax, eax
    pop     rsi
    pop     rdi
    ret
    .seh_endproc

# int mixwalk_guarded_call(void (*function)(void*), void* argument, uint64_t* stack_pointer)
# Leaves its own rsp in *stack_pointer: all that a fault needs to come back to
# mixwalk_guarded_call_fault with.
    .globl  mixwalk_guarded_call
    .def    mixwalk_guarded_call; .scl 2; .type 32; .endef
    .seh_proc mixwalk_guarded_call
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
    mov     [r8], rsp
    mov     rax, rcx
    mov     rcx, rdx
    call    rax
    mov     eax, 1
    jmp     .Lrestore
    .globl  mixwalk_guarded_call_fault
mixwalk_guarded_call_fault:
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
    .seh_endproc
