//! The functions of libelf and zlib that libbpf calls.
//!
//! libbpf is here because the lab's code is the same in all kernels; a user-mode kernel loads no BPF programs.
//! Without this, the program would need both libraries of the machine: not every machine has them, and each takes
//! time to load in each run. A linker may keep a library for a function that it removes later, so all of them are
//! here. Zero is the answer of each function that fails; the first one that libbpf asks is `elf_version`.

macro_rules! absent {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> usize {
                0
            }
        )*
    };
}

absent! {
    elf64_getehdr elf64_getshdr elf64_newehdr elf_begin elf_end elf_errmsg elf_getdata elf_getphdrnum elf_getscn
    elf_getshdrnum elf_getshdrstrndx elf_kind elf_memory elf_ndxscn elf_newdata elf_newscn elf_nextscn elf_rawdata
    elf_strptr elf_update elf_version gelf_getclass gelf_getehdr gelf_getnote gelf_getphdr gelf_getshdr gelf_getsym
    gelf_getverdaux gelf_getverdef gelf_getversym
    gzclose gzgets gzopen64
}
