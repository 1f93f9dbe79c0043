//! All that is known of a row: by the header of its batch, by the bytes of its record, and at last.
use super::condition::{Known, Path, Source};
use super::value::Operand;
use crate::batch::{Header, Record};
use crate::decode::{Decoder, Framed};
use crate::json::{Json, parse};
use crate::plan::{Field, Kind, Plan};
use crate::reader::Reader;
use crate::row::{Cell, Column as C, Common, Row, header_cell};
use crate::text;
use std::cell::OnceCell;

/// The header of a batch; if the batch is damaged, its row has nulls instead.
pub struct OfBatch<'a>(pub &'a Header);

impl Source for OfBatch<'_> {
    fn find(&self, path: &Path) -> Known<'_> {
        if path.column.is_of_header() && path.rest.is_empty() {
            let cell = header_cell(self.0, path.column).unwrap_or(Cell::Null);
            return Known::OrNull(Operand::of_cell(cell));
        }
        Known::Any
    }
}

/// A record of a batch that is not damaged.
#[derive(Clone, Copy)]
pub struct OfRecord<'a> {
    pub common: Common<'a>,
    pub record: &'a Record<'a>,
    pub decoder: &'a Decoder,
    pub is_redacted: bool,
}

impl Source for OfRecord<'_> {
    fn find(&self, path: &Path) -> Known<'_> {
        let record = self.record;
        let size =
            |of: Option<&[u8]>| of.map_or(Operand::Null, |raw| Operand::Int(raw.len() as i64));
        let is_control = self.common.header.is_control();
        if let Some(cell) = self
            .common
            .cell(path.column)
            .filter(|_| path.rest.is_empty())
        {
            return Known::One(Operand::of_cell(cell));
        }
        match (path.column, path.rest.is_empty()) {
            (C::Headers, _) => Known::One(headers(record, path)),
            (C::Offset, true) => Known::One(Operand::Int(record.offset)),
            (C::Timestamp, true) => Known::One(Operand::Int(record.time)),
            (C::Sequence, true) => {
                Known::One(Operand::of_cell(self.common.sequence(record.offset)))
            }
            (C::KeySize, true) => Known::One(size(record.key)),
            (C::ValueSize, true) => Known::One(size(record.value)),
            (C::Type, true) if !is_control => match self.decoder.peek(record) {
                Some((_, name)) => {
                    Known::OrNull(Operand::of_cell(Cell::Text(name.as_bytes().into())))
                }
                None => Known::Any,
            },
            (C::Value | C::TopicId | C::PartitionId | C::BrokerId, _) if !is_control => {
                match self.decoder {
                    Decoder::Framed(framed) => self.field(framed, path),
                    Decoder::User(..) | Decoder::Keyed(_) => Known::Any,
                }
            }
            _ => Known::Any,
        }
    }
}

impl OfRecord<'_> {
    /// The field of a framed value.
    fn field<'s>(&'s self, framed: &'s Framed, path: &Path) -> Known<'s> {
        let Some(value) = self.record.value else {
            return Known::Any;
        };
        let Some((_, _, record_type, plan, body)) = framed.plan_of(value) else {
            return Known::Any;
        };
        let slot = match path.column {
            C::TopicId => Some((0, Kind::Uuid)),
            C::PartitionId => Some((1, Kind::Int32)),
            C::BrokerId => Some((2, Kind::Int32)),
            _ => None,
        };
        let reader = Reader::new(value, body);
        if let Some((slot, kind)) = slot {
            return match plan.wire_slot(slot) {
                Some(index) if path.rest.is_empty() && plan.wire[index].kind == kind => {
                    wire_value(plan, index, reader, &[])
                }
                None if path.rest.is_empty() && !plan.has_tagged_slot(slot) => {
                    Known::One(Operand::Null)
                }
                _ => Known::Any,
            };
        }
        if self.is_redacted && record_type.may_be_secret() {
            return Known::Any;
        }
        let Some((name, rest)) = path.rest.split_first() else {
            return Known::Any;
        };
        let Ok(name) = std::str::from_utf8(name) else {
            return Known::Any;
        };
        match plan.wire_field(name) {
            Some(index) => wire_value(plan, index, reader, rest),
            // A field that is not there is not shown.
            None if !plan.has_tagged(name) => Known::One(Operand::Null),
            None => match plan.seek_tagged(&mut reader.clone(), name) {
                Ok(None) => Known::One(Operand::Null),
                Ok(Some((field, at))) => match field_value(field, at, true, rest) {
                    // Of tagged fields, rows do not show the default.
                    Known::OrNull(value) if !value.has_items() => Known::Perhaps(value),
                    other => other,
                },
                Err(_) => Known::Any,
            },
        }
    }
}

/// The value of a wire field of the struct at the reader.
fn wire_value<'a>(
    plan: &'a Plan,
    index: usize,
    mut reader: Reader<'a>,
    rest: &[Vec<u8>],
) -> Known<'a> {
    match plan.seek(&mut reader, index) {
        Ok(field) => field_value(field, reader, plan.is_flexible(), rest),
        Err(_) => Known::Any,
    }
}

/// The value at the reader, or null if the row shows none, as of a damaged record.
fn field_value<'a>(
    field: &'a Field,
    mut reader: Reader<'a>,
    flexible: bool,
    rest: &[Vec<u8>],
) -> Known<'a> {
    let mut operand = match field.shown_ints(reader, flexible) {
        Some(raw) => Operand::Ints(raw),
        None => {
            let Ok(Some(value)) = field.shown_value(&mut reader, flexible) else {
                return Known::Any;
            };
            let Some(value) = Operand::of_value(&value) else {
                return Known::Any;
            };
            value
        }
    };
    for part in rest {
        operand = index_of(part).map_or(Operand::Null, |index| operand.into_item(index));
    }
    Known::OrNull(operand)
}

fn index_of(part: &[u8]) -> Option<usize> {
    let digits = std::str::from_utf8(part).ok()?;
    let is_number = !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    digits.parse().ok().filter(|_| is_number)
}

/// The list of headers, or the text of the last header with a key.
fn headers<'a>(record: &Record<'a>, path: &Path) -> Operand<'a> {
    match &path.rest[..] {
        [] => Operand::List(vec![Operand::Object; record.headers.count.max(0) as usize]),
        [key] => {
            let named = |(name, _): &(&[u8], _)| *text::lossy(name) == **key;
            match record.headers.iter().filter(named).last() {
                Some((_, Some(raw))) => Operand::Text(text::lossy(raw)),
                Some((_, None)) | None => Operand::Null,
            }
        }
        _ => Operand::Null,
    }
}

/// A row; key and value are parsed when a path leads into them.
pub struct OfRow<'a> {
    row: &'a Row<'a>,
    key: OnceCell<Parsed<'a>>,
    value: OnceCell<Parsed<'a>>,
}

/// The text of a key or value, which its JSON borrows from.
struct Parsed<'a>(Option<Json<'a>>);

impl<'a> OfRow<'a> {
    pub fn new(row: &'a Row<'a>) -> Self {
        OfRow {
            row,
            key: OnceCell::new(),
            value: OnceCell::new(),
        }
    }

    fn json(&self, column: C) -> Option<&Json<'a>> {
        let (cell, shown, json) = if column == C::Key {
            (&self.key, &self.row.meaning.key, &self.row.scratch.key)
        } else {
            (
                &self.value,
                &self.row.meaning.value,
                &self.row.scratch.value,
            )
        };
        let parsed = cell.get_or_init(|| Parsed(shown.json(json).and_then(parse)));
        parsed.0.as_ref()
    }
}

impl Source for OfRow<'_> {
    fn find(&self, path: &Path) -> Known<'_> {
        Known::One(match path.column {
            C::Headers => headers(self.row.record, path),
            column if path.rest.is_empty() => Operand::of_cell(self.row.cell(column)),
            column @ (C::Key | C::Value) => self
                .json(column)
                .and_then(|json| json.at(&path.rest))
                .map_or(Operand::Null, Operand::of_json),
            _ => Operand::Null,
        })
    }
}
