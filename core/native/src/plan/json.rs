//! Kafka's JSON of a struct, as its generated `…JsonConverter` classes write it.
use super::{Field, Kind, Message, Plan, Shown, Slots};
use crate::reader::{Malformed, ReadResult, Reader};
use crate::text::{self, put, truth};

/// The largest number of members of a struct from the first tagged one on.
pub(super) const MAX_PLACES: usize = 24;

impl Plan {
    /// Append the struct at the reader as JSON; tell whether it has unknown tags.
    #[inline]
    pub fn json(
        &self,
        reader: &mut Reader,
        out: &mut Vec<u8>,
        slots: &mut Slots,
    ) -> ReadResult<bool> {
        let start = *reader;
        out.push(b'{');
        let begin = out.len();
        // Where members begin that a tagged field may have to come before.
        let mut places = [(0u16, 0usize); MAX_PLACES];
        let mut count = 0;
        for field in &self.wire {
            if field.order > self.first_tagged && count < places.len() {
                places[count] = (field.order, out.len());
                count += 1;
            }
            field.prefix.put(out);
            slots.note(field, reader.at);
            field.json(reader, out, self.flexible)?;
            out.push(b',');
        }
        let mut has_unknown = false;
        let mut seen = 0u64;
        if self.flexible {
            for _ in 0..reader.uvarint()? as i32 {
                let tag = reader.uvarint()?;
                let size = reader.uvarint()? as i32;
                let Some(field) = self.tagged.iter().find(|field| field.tag == Some(tag)) else {
                    if self.absent.contains(&tag) || size < 0 {
                        return Err(Malformed);
                    }
                    reader.take(size as usize)?;
                    has_unknown = true;
                    continue;
                };
                let bit = 1u64.checked_shl(tag).unwrap_or(0);
                if seen & bit != 0 || bit == 0 {
                    out.truncate(begin);
                    *reader = start;
                    return self.json_with_repeated_tags(reader, out, slots);
                }
                seen |= bit;
                let begun = out.len();
                field.prefix.put(out);
                let value_at = out.len();
                let odd_inside = field.json(reader, out, true)?;
                out.push(b',');
                if out.get(value_at..out.len() - 1) == Some(&field.default[..]) && !odd_inside {
                    out.truncate(begun);
                    continue;
                }
                if count == places.len() {
                    return Err(Malformed);
                }
                let size = out.len() - begun;
                let next = (0..count)
                    .find(|i| places[*i].0 > field.order)
                    .unwrap_or(count);
                let from = if next < count { places[next].1 } else { begun };
                if let Some(behind) = out.get_mut(from..) {
                    behind.rotate_right(size);
                }
                for place in places.iter_mut().take(count).skip(next) {
                    place.1 += size;
                }
                places.copy_within(next..count, next + 1);
                places[next] = (field.order, from);
                count += 1;
            }
        }
        close(out);
        Ok(has_unknown)
    }

    /// Go on after the `{` of a struct in which a tag is repeated: the last of them counts.
    #[cold]
    fn json_with_repeated_tags(
        &self,
        reader: &mut Reader,
        out: &mut Vec<u8>,
        slots: &mut Slots,
    ) -> ReadResult<bool> {
        let mut ahead = *reader;
        for field in &self.wire {
            field.skip(&mut ahead, self.flexible)?;
        }
        let mut tagged_readers: Vec<Option<Reader>> = self.tagged.iter().map(|_| None).collect();
        let mut has_unknown = false;
        for _ in 0..ahead.uvarint()? as i32 {
            let tag = ahead.uvarint()?;
            let size = ahead.uvarint()? as i32;
            if let Some(at) = self.tagged.iter().position(|field| field.tag == Some(tag)) {
                tagged_readers[at] = Some(ahead);
                self.tagged[at].skip(&mut ahead, true)?;
            } else if self.absent.contains(&tag) {
                return Err(Malformed);
            } else {
                ahead.take(usize::try_from(size).map_err(|_| Malformed)?)?;
                has_unknown = true;
            }
        }
        let mut tagged: Vec<_> = self.tagged.iter().zip(tagged_readers).collect();
        tagged.sort_by_key(|(field, _)| field.order);
        let mut tagged = tagged.into_iter().peekable();
        let mut show_tagged = |out: &mut Vec<u8>, before: u16| -> ReadResult<()> {
            while let Some((field, at)) = tagged.next_if(|(field, _)| field.order < before) {
                let Some(mut at) = at else { continue };
                let from = out.len();
                field.prefix.put(out);
                let value = out.len();
                let odd_inside = field.json(&mut at, out, true)?;
                if out.get(value..) == Some(&field.default[..]) && !odd_inside {
                    out.truncate(from);
                } else {
                    out.push(b',');
                }
            }
            Ok(())
        };
        for field in &self.wire {
            show_tagged(out, field.order)?;
            field.prefix.put(out);
            slots.note(field, reader.at);
            field.json(reader, out, self.flexible)?;
            out.push(b',');
        }
        show_tagged(out, u16::MAX)?;
        close(out);
        *reader = ahead;
        Ok(has_unknown)
    }
}

/// End an object; a comma after the last member is replaced.
fn close(out: &mut Vec<u8>) {
    match out.last_mut() {
        Some(last) if *last == b',' => *last = b'}',
        _ => out.push(b'}'),
    }
}

impl Field {
    /// Read whether a nullable struct follows (KIP-893).
    #[inline(always)]
    pub(super) fn follows(&self, reader: &mut Reader) -> ReadResult<bool> {
        if self.tag.is_some() {
            Ok(reader.uvarint()? as i32 > 0)
        } else {
            Ok(reader.u8()? < 128)
        }
    }

    #[inline]
    pub(super) fn json(
        &self,
        reader: &mut Reader,
        out: &mut Vec<u8>,
        flexible: bool,
    ) -> ReadResult<bool> {
        if matches!(self.shown, Shown::Default) {
            out.extend_from_slice(&self.default);
            return Ok(false);
        }
        if !self.array {
            if self.kind == Kind::Struct && self.nullable && !self.follows(reader)? {
                put!(out, "null");
                return Ok(false);
            }
            return self.element(reader, out, flexible, self.nullable);
        }
        match length(reader, flexible, false, self.nullable)? {
            None => put!(out, "null"),
            Some(0) => put!(out, "[]"),
            Some(count) => {
                if self.kind.width() * count > reader.left() {
                    return Err(Malformed);
                }
                out.push(b'[');
                for index in 0..count {
                    if index > 0 {
                        out.push(b',');
                    }
                    self.element(reader, out, flexible, false)?;
                }
                out.push(b']');
            }
        }
        Ok(false)
    }

    #[inline(always)]
    pub(super) fn element(
        &self,
        reader: &mut Reader,
        out: &mut Vec<u8>,
        flexible: bool,
        nullable: bool,
    ) -> ReadResult<bool> {
        match self.kind {
            Kind::Int32 => text::int(out, reader.i32()? as i64),
            Kind::Uuid => {
                let raw = reader.array()?;
                out.push(b'"');
                text::uuid(out, &raw);
                out.push(b'"');
            }
            Kind::Bool => put!(out, truth(reader.u8()? != 0)),
            Kind::Int8 => text::int(out, reader.u8()? as i8 as i64),
            Kind::Int16 => text::int(out, reader.i16()? as i64),
            Kind::Uint16 => text::int(out, reader.i16()? as u16 as i64),
            Kind::Uint32 => text::int(out, reader.i32()? as u32 as i64),
            Kind::Int64 => text::int(out, reader.i64()?),
            Kind::Float64 => text::double(out, f64::from_bits(reader.i64()? as u64)),
            Kind::String => match length(reader, flexible, true, nullable)? {
                None => put!(out, "null"),
                Some(size) if size > 0x7FFF => return Err(Malformed),
                Some(size) => {
                    let raw = reader.take(size)?;
                    match &self.shown {
                        Shown::Redacted(text) => out.extend_from_slice(text),
                        _ => text::json_string(out, raw),
                    }
                }
            },
            Kind::Bytes => match length(reader, flexible, false, nullable)? {
                None => put!(out, "null"),
                Some(size) => self.bytes(reader.take(size)?, out),
            },
            Kind::Struct => {
                let plan = self.inner.as_ref().ok_or(Malformed)?;
                return plan.json(reader, out, &mut Slots::default());
            }
        }
        Ok(false)
    }

    pub(super) fn bytes(&self, raw: &[u8], out: &mut Vec<u8>) {
        match &self.shown {
            Shown::Redacted(text) => return out.extend_from_slice(text),
            Shown::Embedded(message) => {
                let begun = out.len();
                if embedded(message, raw, out).is_ok() {
                    return;
                }
                out.truncate(begun);
            }
            _ => {}
        }
        out.push(b'"');
        text::base64(out, raw);
        out.push(b'"');
    }
}

#[inline(always)]
pub(super) fn length(
    reader: &mut Reader,
    flexible: bool,
    short: bool,
    nullable: bool,
) -> ReadResult<Option<usize>> {
    let size = if flexible {
        let size = reader.uvarint()? as i32;
        if size == i32::MIN {
            return Err(Malformed);
        }
        size - 1
    } else if short {
        reader.i16()? as i32
    } else {
        reader.i32()?
    };
    if size < 0 {
        return if nullable { Ok(None) } else { Err(Malformed) };
    }
    if size as usize > reader.left() {
        Err(Malformed)
    } else {
        Ok(Some(size as usize))
    }
}

/// Append a message that begins with its version, as in `ConsumerProtocol`.
fn embedded(message: &Message, raw: &[u8], out: &mut Vec<u8>) -> ReadResult<()> {
    let mut reader = Reader::new(raw, 0);
    let stated = reader.i16()? as i32;
    let version = stated.clamp(0, message.plans.len() as i32 - 1);
    let plan = message.plan(version).ok_or(Malformed)?;
    if stated > version && message.has_structs(plan, &reader) {
        return Err(Malformed); // Kafka reads the message, but no struct in it
    }
    plan.json(&mut reader, out, &mut Slots::default())?;
    Ok(())
}
