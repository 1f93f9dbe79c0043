//! Values without JSON: skip them, seek a field, or decode them.
use super::json::length;
use super::{Field, Kind, Plan, Shown, Value};
use crate::reader::{Malformed, ReadResult, Reader};

impl Plan {
    /// Seek a tagged field of the struct at the reader; of a repeated tag, the last.
    pub fn seek_tagged<'a>(
        &self,
        reader: &mut Reader<'a>,
        name: &str,
    ) -> ReadResult<Option<(&Field, Reader<'a>)>> {
        for field in &self.wire {
            field.skip(reader, self.flexible)?;
        }
        let mut latest = None;
        for _ in 0..reader.uvarint()? as i32 {
            let tag = reader.uvarint()?;
            let size = reader.uvarint()? as i32;
            if let Some(field) = self.tagged.iter().find(|field| field.tag == Some(tag)) {
                if &*field.name == name {
                    latest = Some((field, *reader));
                }
                field.skip(reader, true)?;
            } else {
                reader.take(usize::try_from(size).map_err(|_| Malformed)?)?;
            }
        }
        Ok(latest)
    }

    /// Decode the struct at the reader; absent tagged fields have no value.
    pub fn value<'a>(&'a self, reader: &mut Reader<'a>) -> ReadResult<Value<'a>> {
        let mut members = Vec::with_capacity(self.wire.len());
        for field in &self.wire {
            members.push((&*field.name, field.value(reader, self.flexible)?));
        }
        if self.flexible {
            for _ in 0..reader.uvarint()? as i32 {
                let tag = reader.uvarint()?;
                let size = reader.uvarint()? as i32;
                if let Some(field) = self.tagged.iter().find(|field| field.tag == Some(tag)) {
                    let value = field.value(reader, true)?;
                    members.retain(|(name, _)| *name != &*field.name);
                    members.push((&*field.name, value));
                } else {
                    reader.take(usize::try_from(size).map_err(|_| Malformed)?)?;
                }
            }
        }
        Ok(Value::Struct(members))
    }

    /// Seek the wire field at *index*.
    #[inline]
    pub fn seek(&self, reader: &mut Reader, index: usize) -> ReadResult<&Field> {
        for field in self.wire.get(..index).ok_or(Malformed)? {
            field.skip(reader, self.flexible)?;
        }
        self.wire.get(index).ok_or(Malformed)
    }

    pub(super) fn skip(&self, reader: &mut Reader) -> ReadResult<()> {
        for field in &self.wire {
            field.skip(reader, self.flexible)?;
        }
        if self.flexible {
            for _ in 0..reader.uvarint()? as i32 {
                let tag = reader.uvarint()?;
                let size = reader.uvarint()? as i32;
                if let Some(field) = self.tagged.iter().find(|field| field.tag == Some(tag)) {
                    field.skip(reader, true)?;
                } else {
                    reader.take(usize::try_from(size).map_err(|_| Malformed)?)?;
                }
            }
        }
        Ok(())
    }

    /// The string field at *at*.
    pub fn string_at<'a>(&self, bytes: &'a [u8], start: u32) -> Option<&'a [u8]> {
        let mut reader = Reader::new(bytes, start as usize);
        let size = length(&mut reader, self.flexible, true, true).ok()??;
        reader.take(size).ok()
    }
}

impl Field {
    #[inline(always)]
    pub(super) fn skip(&self, reader: &mut Reader, flexible: bool) -> ReadResult<()> {
        let mut count = 1;
        if self.array {
            match length(reader, flexible, false, self.nullable)? {
                None => return Ok(()),
                Some(size) => count = size,
            }
        } else if self.kind == Kind::Struct && self.nullable && !self.follows(reader)? {
            return Ok(());
        }
        let nullable = self.nullable && !self.array;
        match self.kind {
            Kind::String | Kind::Bytes => {
                let is_text = self.kind == Kind::String;
                for _ in 0..count {
                    if let Some(size) = length(reader, flexible, is_text, nullable)? {
                        if is_text && size > 0x7FFF {
                            return Err(Malformed);
                        }
                        reader.take(size)?;
                    }
                }
            }
            Kind::Struct => {
                for _ in 0..count {
                    self.inner.as_ref().ok_or(Malformed)?.skip(reader)?;
                }
            }
            kind => {
                reader.take(kind.width() * count)?;
            }
        }
        Ok(())
    }

    pub(super) fn value<'a>(
        &'a self,
        reader: &mut Reader<'a>,
        flexible: bool,
    ) -> ReadResult<Value<'a>> {
        if !self.array {
            if self.kind == Kind::Struct && self.nullable && !self.follows(reader)? {
                return Ok(Value::Null);
            }
            return self.one_value(reader, flexible, self.nullable);
        }
        let Some(count) = length(reader, flexible, false, self.nullable)? else {
            return Ok(Value::Null);
        };
        (0..count)
            .map(|_| self.one_value(reader, flexible, false))
            .collect::<ReadResult<_>>()
            .map(Value::Array)
    }

    pub(super) fn one_value<'a>(
        &'a self,
        reader: &mut Reader<'a>,
        flexible: bool,
        nullable: bool,
    ) -> ReadResult<Value<'a>> {
        Ok(match self.kind {
            Kind::Bool => Value::Bool(reader.u8()? != 0),
            Kind::Int8 => Value::Int(reader.u8()? as i8 as i64),
            Kind::Int16 => Value::Int(reader.i16()? as i64),
            Kind::Uint16 => Value::Int(reader.i16()? as u16 as i64),
            Kind::Int32 => Value::Int(reader.i32()? as i64),
            Kind::Uint32 => Value::Int(reader.i32()? as u32 as i64),
            Kind::Int64 | Kind::Float64 => Value::Int(reader.i64()?),
            Kind::Uuid => Value::Uuid(reader.array()?),
            Kind::String | Kind::Bytes => {
                match length(reader, flexible, self.kind == Kind::String, nullable)? {
                    None => Value::Null,
                    Some(size) if self.kind == Kind::String => Value::Text(reader.take(size)?),
                    Some(size) => Value::Bytes(reader.take(size)?),
                }
            }
            Kind::Struct => return self.inner.as_ref().ok_or(Malformed)?.value(reader),
        })
    }

    /// Decode the value at the reader; None if only its JSON tells what a row shows.
    ///
    /// A row does not show a tagged field that has its default.
    pub fn shown_value<'a>(
        &'a self,
        reader: &mut Reader<'a>,
        flexible: bool,
    ) -> ReadResult<Option<Value<'a>>> {
        let is_plain = matches!(self.shown, Shown::Plain);
        if !is_plain || matches!(self.kind, Kind::Struct | Kind::Float64 | Kind::Bytes) {
            return Ok(None);
        }
        self.value(reader, flexible).map(Some)
    }

    /// The bytes of the integers of 32 bits at the reader; None if it has no list of them.
    pub fn shown_ints<'a>(&self, mut reader: Reader<'a>, flexible: bool) -> Option<&'a [u8]> {
        let is_plain = matches!(self.shown, Shown::Plain);
        if !(is_plain && self.array && self.kind == Kind::Int32) {
            return None;
        }
        let count = length(&mut reader, flexible, false, self.nullable).ok()??;
        reader.take(count.checked_mul(4)?).ok()
    }
}
