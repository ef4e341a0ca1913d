//! The part of ELF that finds a section: libbpf doesn't give an object's licence.

/// The contents of a section of a 64-bit little-endian ELF file, if that's what it is and has.
pub(crate) fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let headers = read::<8>(file, 40)? as usize;
    let (size, count) = (read::<2>(file, 58)? as usize, read::<2>(file, 60)? as usize);
    let header = |index: usize| headers.checked_add(index.checked_mul(size)?);
    let contents = |at: usize| {
        let (offset, length) = (read::<8>(file, at + 24)? as usize, read::<8>(file, at + 32)? as usize);
        file.get(offset..offset.checked_add(length)?)
    };
    let names = contents(header(read::<2>(file, 62)? as usize)?)?;
    let found = (0..count).filter_map(header).find(|at| {
        let offset = read::<4>(file, *at).map(|offset| offset as usize);
        offset.and_then(|offset| names.get(offset..)).is_some_and(|rest| string(rest) == name)
    });
    contents(found?)
}

/// Text up to a zero; empty if it is no UTF-8.
pub(crate) fn string(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    str::from_utf8(&bytes[..end]).unwrap_or_default()
}

fn read<const N: usize>(file: &[u8], at: usize) -> Option<u64> {
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(file.get(at..at.checked_add(N)?)?);
    Some(u64::from_le_bytes(wide))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_found_by_name() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(string(section(&file, ".interp").unwrap()).split('/').nth(1), Some("lib64"));
        assert_eq!(section(&file, ".nothing"), None);
    }

    #[test]
    fn broken_files_have_no_sections() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(section(b"", "license"), None);
        assert_eq!(section(&file[..100], "license"), None);
        let mut wild = file[..4096].to_vec();
        wild[40..48].fill(0xff);
        assert_eq!(section(&wild, "license"), None);
    }
}
