//! A condition on a column or on a path in it (`--where`).
use crate::batch::Record;
use crate::decode::Framed;
use crate::json::{parse, put_string};
use crate::reader::Reader;
use crate::row::{Cell, Column, Row};
use crate::text::{self, put, truth};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::borrow::Cow;

pub struct Condition {
    column: Column,
    /// The names and numbers after the column; empty for the column itself.
    path: Vec<Vec<u8>>,
    text: Vec<u8>,
}

impl Condition {
    /// Compile a condition from the path, which begins with a column, and the wanted text.
    pub fn compile(path: &[u8], text: Vec<u8>) -> PyResult<Condition> {
        let mut parts = path.splitn(2, |c| *c == b'.');
        let column = parts.next().unwrap_or_default();
        let column = std::str::from_utf8(column).ok().and_then(Column::of);
        let column = column.ok_or_else(|| PyValueError::new_err("no column"))?;
        let rest = parts.next().unwrap_or_default();
        let path = if rest.is_empty() {
            Vec::new()
        } else {
            rest.split(|c| *c == b'.').map(<[u8]>::to_vec).collect()
        };
        Ok(Condition { column, path, text })
    }

    /// Tell whether the bytes of a record rule the condition out, before it is rendered.
    pub fn is_ruled_out(&self, framed: &Framed, record: &Record, is_secret: bool) -> bool {
        if self.column != Column::Value || self.path.is_empty() {
            return false;
        }
        let Some(value) = record.value else {
            return true;
        };
        let Some((_, _, found, plan, body)) = framed.plan_of(value) else {
            return false;
        };
        if is_secret && found.may_be_secret() {
            return false;
        }
        let Ok(name) = std::str::from_utf8(&self.path[0]) else {
            return false;
        };
        let mut reader = Reader::new(value, body);
        let field = match plan.wire_field(name) {
            Some(index) => plan.seek(&mut reader, index).ok(),
            None if !plan.has_tagged(name) => return true,
            None => match plan.seek_tagged(&mut reader, name) {
                Ok(None) => return true, // an absent field is not shown
                Ok(Some((field, at))) => {
                    reader = at;
                    Some(field)
                }
                Err(_) => None,
            },
        };
        let Some(field) = field else {
            return false;
        };
        if self.path.len() > 1 {
            return !field.array && field.kind != crate::plan::Kind::Struct;
        }
        let mut shown = Vec::new();
        match field.scalar(&mut reader, plan.is_flexible(), &mut shown) {
            Ok(true) => shown != self.text,
            _ => false,
        }
    }

    pub fn holds(&self, row: &Row) -> bool {
        let mut out = Vec::new();
        self.put(row, &mut out) && out == self.text
    }

    /// Append the text at the path; return false if there is nothing.
    fn put(&self, row: &Row, out: &mut Vec<u8>) -> bool {
        let cell = row.cell(self.column);
        if let Cell::Headers = cell {
            return self.put_header(row, out);
        }
        if self.path.is_empty() {
            match cell {
                Cell::Null | Cell::Headers => put!(out, "null"),
                Cell::Int(number) => text::int(out, number),
                Cell::Bool(flag) => put!(out, truth(flag)),
                Cell::Text(text) => out.extend_from_slice(&text),
            }
            return true;
        }
        let Cell::Text(text) = cell else { return false };
        if row.meaning.kind == "user" {
            return false;
        }
        let Some(parsed) = parse(&text) else {
            return false;
        };
        parsed
            .at(&self.path)
            .map(|found| found.put_text(out))
            .is_some()
    }

    fn put_header(&self, row: &Row, out: &mut Vec<u8>) -> bool {
        if self.path.is_empty() {
            put_headers(row, out);
            return true;
        }
        let number = std::str::from_utf8(&self.path[0])
            .ok()
            .and_then(|text| text.parse().ok());
        let is_number = self.path[0].iter().all(u8::is_ascii_digit);
        let Some(number): Option<usize> = number.filter(|_| is_number) else {
            return false;
        };
        let Some((key, value)) = row.record.headers.iter().nth(number) else {
            return false;
        };
        match self.path.get(1..) {
            Some([]) => put_one_header(key, value, out),
            Some([part]) if part == b"key" => out.extend_from_slice(&text::lossy(key)),
            Some([part]) if part == b"value" => match value {
                None => put!(out, "null"),
                Some(raw) => out.extend_from_slice(&text::lossy(raw)),
            },
            _ => return false,
        }
        true
    }
}

/// Append the headers of a row as JSON, their values in base64.
fn put_headers(row: &Row, out: &mut Vec<u8>) {
    out.push(b'[');
    for (number, (key, value)) in row.record.headers.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        put_one_header(key, value, out);
    }
    out.push(b']');
}

fn put_one_header(key: &[u8], value: Option<&[u8]>, out: &mut Vec<u8>) {
    let key: Cow<[u8]> = text::lossy(key);
    put!(out, "{\"key\":");
    put_string(out, &key);
    put!(out, ",\"value\":");
    match value {
        None => put!(out, "null"),
        Some(raw) => {
            out.push(b'"');
            text::base64(out, raw);
            out.push(b'"');
        }
    }
    out.push(b'}');
}
