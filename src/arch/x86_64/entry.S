/* SPDX-License-Identifier: BSD-3-Clause
 * entry.S - clone into a function, enter a program, and the stubs of redirected system calls.
 *
 * System-call ABI: number in rax, arguments in rdi rsi rdx r10 r8 r9, result in rax; only rax,
 * rcx and r11 change. A rewritten site calls a stub in place of `syscall`, so a stub keeps
 * exactly that contract and leaves the vector registers alone (nagaya_redirect is compiled for
 * general registers only).
 */
        .text

/* long nagaya_arch_clone3(args rdi, args_bytes rsi, function rdx, argument rcx) */
        .globl  nagaya_arch_clone3
        .hidden nagaya_arch_clone3
        .type   nagaya_arch_clone3, @function
nagaya_arch_clone3:
        endbr64
        mov     %rcx, %r8               /* the kernel overwrites rcx */
        mov     $435, %eax              /* __NR_clone3 */
        syscall
        test    %rax, %rax
        jz      child
        ret

/* long nagaya_arch_clone(flags rdi, stack_top rsi, function rdx, argument rcx) */
        .globl  nagaya_arch_clone
        .hidden nagaya_arch_clone
        .type   nagaya_arch_clone, @function
nagaya_arch_clone:
        endbr64
        mov     %rdx, %r9               /* r9 is no argument of this call */
        push    %r12                    /* nor is r12, which must be kept */
        mov     %rcx, %r12
        xor     %edx, %edx
        xor     %r10d, %r10d
        xor     %r8d, %r8d
        mov     $56, %eax               /* __NR_clone */
        syscall
        test    %rax, %rax
        jnz     1f
        mov     %r9, %rdx
        mov     %r12, %r8
        jmp     child
1:      pop     %r12
        ret

/* In the clone, on its own stack: function in rdx, argument in r8. */
child:
        xor     %ebp, %ebp
        mov     %r8, %rdi
        and     $-16, %rsp
        call    *%rdx
        ud2

/* void nagaya_arch_enter(entry rdi, stack_pointer rsi): the state that the kernel gives a new
 * program (psABI 3.4.1): rdx = 0 (no function to register with atexit), rbp = 0. The thread
 * pointer is the host's until here and must not leak into the program. */
        .globl  nagaya_arch_enter
        .hidden nagaya_arch_enter
        .type   nagaya_arch_enter, @function
nagaya_arch_enter:
        endbr64
        mov     %rdi, %r12
        mov     %rsi, %r13
        mov     $0x1002, %edi           /* ARCH_SET_FS */
        xor     %esi, %esi
        mov     $158, %eax              /* __NR_arch_prctl */
        syscall
        mov     %r13, %rsp
        mov     %r12, %r11
        xor     %eax, %eax
        xor     %ebx, %ebx
        xor     %ecx, %ecx
        xor     %edx, %edx
        xor     %esi, %esi
        xor     %edi, %edi
        xor     %ebp, %ebp
        xor     %r8d, %r8d
        xor     %r9d, %r9d
        xor     %r10d, %r10d
        xor     %r12d, %r12d
        xor     %r13d, %r13d
        xor     %r14d, %r14d
        xor     %r15d, %r15d
        cld
        jmp     *%r11

/* One stub per redirectable call, in the order of arch::kRedirectable; then arch::kLinkerMprotect. */
        .macro  STUB number
        .balign 16
        endbr64
        mov     $\number, %eax
        jmp     redirect
        .endm

        .balign 16
        .globl  nagaya_arch_stubs
        .hidden nagaya_arch_stubs
nagaya_arch_stubs:
        STUB    9                       /* mmap */
        STUB    11                      /* munmap */
        STUB    25                      /* mremap */
        STUB    30                      /* shmat */
        STUB    67                      /* shmdt */
        STUB    89                      /* readlink */
        STUB    267                     /* readlinkat */
        STUB    10                      /* mprotect */
        STUB    59                      /* execve */
        STUB    28                      /* madvise */
        STUB    149                     /* mlock */
        STUB    325                     /* mlock2 */
        STUB    150                     /* munlock */
        STUB    329                     /* pkey_mprotect */
        STUB    0x1000000a              /* mprotect, by a dynamic linker */

/* Builds arch::SyscallFrame on the task's stack and calls nagaya_redirect. */
        .type   redirect, @function
redirect:
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        and     $-16, %rsp
        sub     $64, %rsp
        mov     %rax, 0(%rsp)
        mov     %rdi, 8(%rsp)
        mov     %rsi, 16(%rsp)
        mov     %rdx, 24(%rsp)
        mov     %r10, 32(%rsp)
        mov     %r8, 40(%rsp)
        mov     %r9, 48(%rsp)
        mov     8(%rbp), %rax
        mov     %rax, 56(%rsp)
        mov     %rsp, %rdi
        call    nagaya_redirect
        mov     8(%rsp), %rdi
        mov     16(%rsp), %rsi
        mov     24(%rsp), %rdx
        mov     32(%rsp), %r10
        mov     40(%rsp), %r8
        mov     48(%rsp), %r9
        leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc

/* In place of cpuid: changes eax, ebx, ecx and edx, and nothing else, not even the flags. */
        .globl  nagaya_arch_cpuid
        .hidden nagaya_arch_cpuid
        .type   nagaya_arch_cpuid, @function
nagaya_arch_cpuid:
        .cfi_startproc
        endbr64
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushfq
        push    %rsi
        push    %rdi
        push    %r8
        push    %r9
        push    %r10
        push    %r11
        mov     %rsp, %rsi
        sub     $24, %rsp
        and     $-16, %rsp
        mov     %rsi, 16(%rsp)
        mov     %eax, 0(%rsp)           /* arch::CpuidRegisters */
        mov     %ecx, 8(%rsp)
        mov     %rsp, %rdi
        cld
        call    nagaya_cpuid
        mov     0(%rsp), %eax
        mov     4(%rsp), %ebx
        mov     8(%rsp), %ecx
        mov     12(%rsp), %edx
        mov     16(%rsp), %rsp
        pop     %r11
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rdi
        pop     %rsi
        popfq
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc

        .section .note.GNU-stack, "", @progbits
