//! The location of fields in a message: only their lengths are read.
use super::json::length;
use super::{Field, Kind, Plan, Value};
use crate::reader::{Malformed, ReadResult, Reader};

/// The slots of a PartitionRecord, of which a fold takes the most fields (`fold/partition.rs`).
pub const MAX_SLOTS: usize = 13;
const ABSENT: i32 = i32::MIN;
const NULL: i32 = -1;

type Member<'a> = (&'a str, Value<'a>);

/// The begin of a field's value, or first value, and the number of values or bytes of text.
#[derive(Clone, Copy)]
pub struct Location {
    at: u32,
    count: i32,
}

/// The fields with slots of a record, and the bytes that they are in.
pub struct LocatedFields<'a> {
    raw: &'a [u8],
    locations: [Location; MAX_SLOTS],
}

impl Plan {
    /// Skip the struct at the reader, and note the location of the fields with slots.
    #[inline]
    pub fn locate<'a>(&self, reader: &mut Reader<'a>) -> ReadResult<LocatedFields<'a>> {
        let absent = Location {
            at: 0,
            count: ABSENT,
        };
        let mut locations = [absent; MAX_SLOTS];
        for field in &self.wire {
            field.locate(reader, self.flexible, &mut locations)?;
        }
        if self.flexible {
            for _ in 0..reader.uvarint()? as i32 {
                let tag = reader.uvarint()?;
                let size = reader.uvarint()? as i32;
                if let Some(field) = self.tagged.iter().find(|field| field.tag == Some(tag)) {
                    field.locate(reader, true, &mut locations)?;
                } else if self.absent.contains(&tag) {
                    return Err(Malformed);
                } else {
                    reader.take(usize::try_from(size).map_err(|_| Malformed)?)?;
                }
            }
        }
        Ok(LocatedFields {
            raw: reader.bytes,
            locations,
        })
    }

    /// Visit the structs of a list in a slot.
    pub fn each_struct(&self, located: &LocatedFields, slot: u8, mut visit: impl FnMut(&[Member])) {
        let all = self.wire.iter().chain(&self.tagged);
        let Some(field) = all.into_iter().find(|field| field.slot == Some(slot)) else {
            return;
        };
        let Some(location) = located.location(slot as usize) else {
            return;
        };
        let mut reader = Reader::new(located.raw, location.at as usize);
        let Ok(Some(count)) = length(&mut reader, self.flexible, false, field.nullable) else {
            return;
        };
        for _ in 0..count {
            match field.one_value(&mut reader, self.flexible, false) {
                Ok(Value::Struct(members)) => visit(&members),
                _ => return,
            }
        }
    }
}

impl Field {
    #[inline(always)]
    fn locate(
        &self,
        reader: &mut Reader,
        flexible: bool,
        locations: &mut [Location; MAX_SLOTS],
    ) -> ReadResult<()> {
        let Some(location) = self.slot.and_then(|slot| locations.get_mut(slot as usize)) else {
            return self.skip(reader, flexible);
        };
        location.at = reader.at as u32;
        location.count = 1;
        let width = self.kind.width();
        if self.kind == Kind::Struct || (self.array && width == 0) {
            return self.skip(reader, flexible);
        }
        if self.array || width == 0 {
            let is_text = !self.array && self.kind == Kind::String;
            let Some(size) = length(reader, flexible, is_text, self.nullable)? else {
                location.count = NULL;
                return Ok(());
            };
            if is_text && size > 0x7FFF {
                return Err(Malformed);
            }
            location.at = reader.at as u32;
            location.count = size as i32;
            return reader.take(size * width.max(1)).map(|_| ());
        }
        reader.take(width).map(|_| ())
    }
}

impl<'a> LocatedFields<'a> {
    #[inline(always)]
    fn location(&self, slot: usize) -> Option<Location> {
        let location = *self.locations.get(slot)?;
        (location.count >= 0).then_some(location)
    }

    #[inline(always)]
    fn reader(&self, slot: usize) -> Option<(Reader<'a>, usize)> {
        let location = self.location(slot)?;
        Some((
            Reader::new(self.raw, location.at as usize),
            location.count as usize,
        ))
    }

    /// Tell whether a field is there, and not null.
    #[inline(always)]
    pub fn has(&self, slot: usize) -> bool {
        self.location(slot).is_some()
    }

    /// The size of a list that is there.
    #[inline(always)]
    pub fn size(&self, slot: usize) -> Option<usize> {
        self.location(slot).map(|location| location.count as usize)
    }

    #[inline(always)]
    pub fn int8(&self, slot: usize) -> Option<i8> {
        self.reader(slot)?.0.u8().ok().map(|byte| byte as i8)
    }

    #[inline(always)]
    pub fn int16(&self, slot: usize) -> Option<i16> {
        self.reader(slot)?.0.i16().ok()
    }

    #[inline(always)]
    pub fn int32(&self, slot: usize) -> Option<i32> {
        self.reader(slot)?.0.i32().ok()
    }

    #[inline(always)]
    pub fn int64(&self, slot: usize) -> Option<i64> {
        self.reader(slot)?.0.i64().ok()
    }

    #[inline(always)]
    pub fn uuid(&self, slot: usize) -> Option<[u8; 16]> {
        self.reader(slot)?.0.array().ok()
    }

    #[inline(always)]
    pub fn text(&self, slot: usize) -> Option<&'a [u8]> {
        let (mut reader, size) = self.reader(slot)?;
        reader.take(size).ok()
    }

    /// The bytes of a list of values of a width; empty without the list.
    #[inline(always)]
    pub fn bytes(&self, slot: usize, width: usize) -> &'a [u8] {
        let listed = self.reader(slot);
        listed
            .and_then(|(mut reader, count)| reader.take(count.saturating_mul(width)).ok())
            .unwrap_or(b"")
    }

    fn chunks<const N: usize>(
        &self,
        slot: usize,
    ) -> impl Iterator<Item = [u8; N]> + Clone + use<'a, N> {
        let chunks = self.bytes(slot, N).chunks_exact(N);
        chunks.filter_map(|raw| raw.try_into().ok())
    }

    /// The brokers of a list; empty without the list.
    #[inline(always)]
    pub fn ids(&self, slot: usize) -> impl Iterator<Item = i32> + Clone + use<'a> {
        self.chunks(slot).map(i32::from_be_bytes)
    }

    pub fn uuids(&self, slot: usize) -> impl Iterator<Item = [u8; 16]> + use<'a> {
        self.chunks(slot)
    }

    /// Tell whether a list of UUIDs has one other than zero.
    #[inline(always)]
    pub fn has_nonzero_uuid(&self, slot: usize) -> bool {
        let Some((mut reader, count)) = self.reader(slot) else {
            return false;
        };
        reader
            .take(count.saturating_mul(16))
            .is_ok_and(|bytes| bytes.iter().any(|byte| *byte != 0))
    }
}
