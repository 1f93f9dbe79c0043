//! Snappy, bare as librdkafka writes it, or in the frames of snappy-java.
use snap::raw::{Decoder, decompress_len};

const MAGIC: &[u8] = b"\x82SNAPPY\0";
/// The magic, a version and the oldest compatible version (`SnappyCodec.headerSize`).
const HEADER: usize = 16;

/// Write the inflated bytes to *room*, and return their number; None of what is not ordinary.
pub fn inflate(stored: &[u8], room: &mut [u8]) -> Option<usize> {
    if !stored.starts_with(MAGIC) || stored.len() < HEADER {
        return block(stored, room);
    }
    let (mut blocks, mut size) = (stored.get(HEADER..)?, 0);
    // snappy-java too ignores fewer bytes than a length has.
    while let Some((length, rest)) = blocks.split_first_chunk() {
        // The magic of a stream that follows another is a negative length.
        let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
        let (packed, rest) = rest.split_at_checked(length)?;
        size += block(packed, room.get_mut(size..)?)?;
        blocks = rest;
    }
    Some(size)
}

fn block(packed: &[u8], room: &mut [u8]) -> Option<usize> {
    let size = decompress_len(packed).ok()?;
    let room = room.get_mut(..size)?;
    Decoder::new().decompress(packed, room).ok()
}
