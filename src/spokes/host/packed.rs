//! Compressed data, in which the mask sees no secret.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// The tool that unpacks compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unpack {
    /// A command that is given the file.
    Command(&'static str),
    /// Git, by the name of what it keeps there.
    Git,
}

/// The first bytes of compressed files, each with what unpacks them.
const PACKED: [(&[u8], Unpack); 8] = [
    (b"\x1f\x8b\x08", Unpack::Command("zcat")),
    (b"\xfd7zXZ\0", Unpack::Command("xzcat")),
    (b"BZh", Unpack::Command("bzcat")),
    (b"\x28\xb5\x2f\xfd", Unpack::Command("zstdcat")),
    (b"PK\x03\x04", Unpack::Command("unzip -p")),
    (b"\x04\x22\x4d\x18", Unpack::Command("lz4cat")),
    (b"LZIP", Unpack::Command("lzip -dc")),
    (b"PACK\0\0\0", Unpack::Git),
];

/// The first words of what git keeps in files of their own.
const GIT_OBJECTS: [&[u8]; 4] = [b"blob ", b"tree ", b"commit ", b"tag "];

/// The first bytes of what zlib compresses: its method, and one of four levels.
const ZLIB: [[u8; 2]; 4] = [[0x78, 0x01], [0x78, 0x5e], [0x78, 0x9c], [0x78, 0xda]];

/// Returns what unpacks data that begins with these bytes; none if it is not compressed.
pub(super) fn unpack(bytes: &[u8]) -> Option<Unpack> {
    let known = PACKED.iter().find(|(begin, _)| bytes.starts_with(begin)).map(|(_, unpack)| *unpack);
    known.or_else(|| is_git_object(bytes).then_some(Unpack::Git))
}

/// Returns whether compressed data begins in a block; never in a text.
pub(super) fn begins_in(block: &[u8]) -> bool {
    std::str::from_utf8(block).is_err()
        && (0..block.len()).any(|at| block.get(at..).is_some_and(|rest| unpack(rest).is_some()))
}

fn is_git_object(bytes: &[u8]) -> bool {
    if !ZLIB.iter().any(|begin| bytes.starts_with(begin)) {
        return false;
    }
    let mut begin = Vec::new();
    // What cannot be unpacked to its end may be cut off here.
    let _ = ZlibDecoder::new(bytes).take(8).read_to_end(&mut begin);
    GIT_OBJECTS.iter().any(|kind| begin.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::ZlibEncoder};

    use super::*;

    #[test]
    fn compressed_data_is_known_wherever_it_begins() {
        for level in 0..=9 {
            let mut packed = ZlibEncoder::new(Vec::new(), Compression::new(level));
            packed.write_all(b"blob 27\0DB_PASSWORD=Qw7hJ2kLm9Zx\n").expect("it is in memory");
            let packed = packed.finish().expect("it is in memory");
            assert_eq!(unpack(&packed), Some(Unpack::Git), "level {level}");
            assert!(begins_in(&[b"a text\n".as_slice(), &packed].concat()), "level {level}");
        }
        assert_eq!(unpack(b"\x1f\x8b\x08\0"), Some(Unpack::Command("zcat")));
        for other in [b"x\x01\xff\xfe".as_slice(), b"x^ BZh", b"\xff\xfe"] {
            assert!(unpack(other).is_none() && !begins_in(other), "{other:?}");
        }
    }
}
