/* An LLVM that is not the compiler's, as far as this: what makes a context. */
void *_ZN4llvm12PassRegistry15getPassRegistryEv(void) { return 0; }
void _ZN4llvm11LLVMContextC1Ev(void *context) { __builtin_trap(); }
