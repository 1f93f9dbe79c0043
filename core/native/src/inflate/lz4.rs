//! LZ4 in the frames that Kafka reads (`Lz4BlockInputStream`).
//!
//! Blocks that end otherwise than the format says are left to Python: decoders disagree on them
//! (`lz4_Block_format.md`, "End of block conditions").
const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
const BLOCK_CHECKSUM: u8 = 0x10;
const CONTENT_SIZE: u8 = 0x08;
const CONTENT_CHECKSUM: u8 = 0x04;
/// The least bytes of a match, which its length does not count.
const LEAST_MATCH: usize = 4;
/// The last bytes of a block are literals, and a match begins this far from its end.
const LAST_LITERALS: usize = 5;
const LAST_MATCH: usize = 12;
/// Bytes that are copied without a call of `memmove`: most literals and matches are not longer.
const STEP: usize = 16;

/// Write the inflated bytes to *room*, and return their number; None of what is not ordinary.
pub fn inflate(stored: &[u8], room: &mut [u8]) -> Option<usize> {
    let (mut blocks, flags, most) = frame(stored)?;
    let mut size = 0;
    loop {
        let (word, rest) = blocks.split_first_chunk()?;
        let word = u32::from_le_bytes(*word);
        let length = (word & 0x7fff_ffff) as usize;
        if length == 0 {
            // Kafka does not check the checksum of the content, but it must be there.
            let is_whole = flags & CONTENT_CHECKSUM == 0 || rest.len() >= 4;
            return is_whole.then_some(size);
        }
        let (packed, rest) = rest.split_at_checked(length)?;
        let end = room.len().min(size + most);
        let free = room.get_mut(size..end)?;
        size += if word >> 31 == 1 {
            free.get_mut(..length)?.copy_from_slice(packed);
            length
        } else {
            block(packed, free)?
        };
        blocks = rest;
    }
}

/// The blocks of a frame, its flags, and the most bytes of a block; checksums of blocks, which no
/// producer of Kafka's writes, are left to Python.
fn frame(stored: &[u8]) -> Option<(&[u8], u8, usize)> {
    let (&flags, &kind) = (stored.get(4)?, stored.get(5)?);
    let is_read = flags >> 6 == 1 && flags & 0x20 != 0 && flags & 3 == 0 && kind & 0x8f == 0;
    if !stored.starts_with(&MAGIC) || !is_read || flags & BLOCK_CHECKSUM != 0 {
        return None;
    }
    let most = match kind >> 4 {
        number @ 4..=7 => 1 << (8 + 2 * number),
        _ => return None,
    };
    let end = if flags & CONTENT_SIZE != 0 { 14 } else { 6 };
    let checksum = (xxhash32(stored.get(4..end)?) >> 8) as u8;
    (*stored.get(end)? == checksum).then_some((stored.get(end + 1..)?, flags, most))
}

/// Write an inflated block to the beginning of *room*, and return its size.
fn block(packed: &[u8], room: &mut [u8]) -> Option<usize> {
    let (mut next, mut size, mut last_match) = (0usize, 0usize, None);
    loop {
        let token = *packed.get(next)?;
        next += 1;
        let literals = length(packed, &mut next, token >> 4)?;
        let end = next.checked_add(literals)?;
        let (from, to) = (packed.get(next..)?, room.get_mut(size..)?);
        match (from.first_chunk::<STEP>(), to.first_chunk_mut::<STEP>()) {
            // What comes after the literals is written over.
            (Some(from), Some(to)) if literals <= STEP => *to = *from,
            _ => to
                .get_mut(..literals)?
                .copy_from_slice(from.get(..literals)?),
        }
        (next, size) = (end, size + literals);
        if next == packed.len() {
            let is_ordinary = last_match.map_or(literals > 0, |start| {
                literals >= LAST_LITERALS && start + LAST_MATCH <= size
            });
            return is_ordinary.then_some(size);
        }
        let distance = u16::from_le_bytes(*packed.get(next..)?.first_chunk()?) as usize;
        next += 2;
        let count = length(packed, &mut next, token & 15)?.checked_add(LEAST_MATCH)?;
        let start = size.checked_sub(distance)?;
        let end = size.checked_add(count)?;
        if distance == 0 || end > room.len() {
            return None;
        }
        last_match = Some(size);
        if distance >= STEP && end + STEP <= room.len() {
            while size < end {
                room.copy_within(size - distance..size - distance + STEP, size);
                size += STEP;
            }
            size = end;
        }
        while size < end {
            // A match longer than its distance repeats itself.
            let piece = (end - size).min(size - start);
            room.copy_within(start..start + piece, size);
            size += piece;
        }
    }
}

/// A length: four bits of a token, and more bytes as long as they are full.
fn length(packed: &[u8], next: &mut usize, start: u8) -> Option<usize> {
    let mut sum = start as usize;
    let mut byte = if start == 15 { 255 } else { 0 };
    while byte == 255 {
        byte = *packed.get(*next)?;
        *next += 1;
        sum = sum.checked_add(byte as usize)?;
    }
    Some(sum)
}

/// XXH32 of fewer than 16 bytes, with seed 0.
fn xxhash32(bytes: &[u8]) -> u32 {
    const PRIMES: [u32; 5] = [
        0x9E37_79B1,
        0x85EB_CA77,
        0xC2B2_AE3D,
        0x27D4_EB2F,
        0x1656_67B1,
    ];
    let mut hash = PRIMES[4].wrapping_add(bytes.len() as u32);
    let mut rest = bytes;
    while let Some((word, after)) = rest.split_first_chunk() {
        hash = hash.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(PRIMES[2]));
        hash = hash.rotate_left(17).wrapping_mul(PRIMES[3]);
        rest = after;
    }
    for byte in rest {
        hash = hash.wrapping_add(u32::from(*byte).wrapping_mul(PRIMES[4]));
        hash = hash.rotate_left(11).wrapping_mul(PRIMES[0]);
    }
    hash = (hash ^ hash >> 15).wrapping_mul(PRIMES[1]);
    hash = (hash ^ hash >> 13).wrapping_mul(PRIMES[2]);
    hash ^ hash >> 16
}
