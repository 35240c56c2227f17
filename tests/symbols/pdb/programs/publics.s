# A DLL whose PDB has public symbols only, as that of an assembler: functions with and without unwind data, and texts
# between them. Each public symbol has the flags "none", which compilers give to data only.
	.macro public name
	.globl "\name"
	.p2align 4
"\name":
	.endm

	.macro group
	.p2align 4
	.seh_proc "framed_\@"
	public framed_\@
	pushq %rbx
	.seh_pushreg %rbx
	subq $48, %rsp
	.seh_stackalloc 48
	.seh_endprologue
	movq %rcx, %rbx
	callq *%rcx
	leaq (%rbx,%rax,4), %rax
	testq %rax, %rax
	je 1f
	imulq $77777, %rax, %rax
	addq %rbx, %rax
1:
	addq $48, %rsp
	popq %rbx
	retq
	.seh_endproc
	public leaf_\@
	leaq 1(%rcx), %rax
	cmpq %rdx, %rax
	jb 2f
	imulq $12345, %rdx, %rdx
	xorq %rdx, %rax
2:
	shlq $3, %rax
	retq
	public "??_C@_05\@@hello?$AA@"
	.asciz "hello"
	.endm

	.text
	.rept 200
	group
	.endr
	.globl first
	.p2align 4
first:
	retq
