//! Which records are asked for (`kraftops.query.filters.Filter`).
use crate::batch::{Header, Record};
use crate::decode::{Decoder, Framed, TypeName};
use crate::json::{Json, parse, put_string};
use crate::reader::Reader;
use crate::row::{Cell, Column, Row};
use crate::text::{self, put, truth};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use std::collections::HashSet;

type Names = HashSet<Vec<u8>>;

pub struct Select {
    types: HashSet<String>,
    /// By record type of the decoder, whether it is one of *types*.
    wanted: Vec<bool>,
    first_offset: i64,
    last_offset: i64,
    since: i64,
    pub until: Option<i64>,
    has_place: bool,
    keys: Names,
    topics: Names,
    topic_ids: Names,
    wheres: Vec<Where>,
    pub is_empty: bool,
    pub needs_rows: bool,
}

struct Where {
    column: Column,
    /// Behind the column; empty for the column itself.
    path: Vec<Vec<u8>>,
    text: Vec<u8>,
}

/// Return a record type as types are compared: partitionchange.
fn normal_type(name: &str) -> String {
    let plain: String = name.chars().filter(|c| *c != '_' && *c != '-').collect();
    let plain = plain.to_lowercase();
    plain.strip_suffix("record").unwrap_or(&plain).to_owned()
}

impl Select {
    pub fn compile(described: &Bound<PyDict>, decoder: &Decoder) -> PyResult<Select> {
        let item = |name: &str| {
            let found = described.get_item(name)?;
            found.ok_or_else(|| PyValueError::new_err(format!("no {name}")))
        };
        let names = |name: &str| -> PyResult<Names> {
            let texts: Vec<Vec<u8>> = item(name)?.extract()?;
            Ok(texts.into_iter().collect())
        };
        let types: HashSet<String> = item("types")?
            .extract::<Vec<String>>()?
            .into_iter()
            .collect();
        let mut wheres = Vec::new();
        for one in item("where")?.try_iter()? {
            let (path, text): (Vec<u8>, Vec<u8>) = one?.extract()?;
            let mut parts = path.splitn(2, |c| *c == b'.');
            let column = parts.next().unwrap_or_default();
            let column = std::str::from_utf8(column).ok().and_then(Column::of);
            let Some(column) = column else {
                return Err(PyValueError::new_err("no column"));
            };
            let rest = parts.next().unwrap_or_default();
            let path = if rest.is_empty() {
                Vec::new()
            } else {
                rest.split(|c| *c == b'.').map(<[u8]>::to_vec).collect()
            };
            wheres.push(Where { column, path, text });
        }
        let wanted = decoder
            .type_names()
            .into_iter()
            .map(|(number, name)| (number, types.contains(&normal_type(&name))));
        let mut flags = Vec::new();
        for (number, is_wanted) in wanted {
            if let Ok(at @ 0..=0x7FFF) = usize::try_from(number) {
                if flags.len() <= at {
                    flags.resize(at + 1, false);
                }
                flags[at] = is_wanted;
            }
        }
        let (first_offset, last_offset): (i64, i64) = item("offsets")?.extract()?;
        let (since, until): (i64, Option<i64>) = item("times")?.extract()?;
        let (keys, topics, topic_ids) = (names("keys")?, names("topics")?, names("topic_ids")?);
        let needs_rows = !(keys.is_empty() && topics.is_empty() && wheres.is_empty());
        let has_place =
            (first_offset, last_offset, since) != (i64::MIN, i64::MAX, i64::MIN) || until.is_some();
        let is_empty = !needs_rows && !has_place && types.is_empty();
        Ok(Select {
            types,
            wanted: flags,
            first_offset,
            last_offset,
            since,
            until,
            has_place,
            keys,
            topics,
            topic_ids,
            wheres,
            is_empty,
            needs_rows,
        })
    }

    pub fn has_types(&self) -> bool {
        !self.types.is_empty()
    }

    /// Tell whether a batch could hold a match: its header does not rule it out.
    pub fn may_match(&self, header: &Header) -> bool {
        let last = header.base_offset as i128 + header.last_delta as i128;
        header.base_offset <= self.last_offset
            && last >= self.first_offset as i128
            && header.max_time >= self.since
    }

    /// Tell whether a record could match: its place and type, and what its bytes soon tell, fit.
    #[inline]
    pub fn may_have(
        &self,
        record: &Record,
        is_control: bool,
        decoder: &Decoder,
        is_secret: bool,
    ) -> bool {
        if self.has_place
            && !((self.first_offset..=self.last_offset).contains(&record.offset)
                && record.time >= self.since
                && self.until.is_none_or(|until| record.time < until))
        {
            return false;
        }
        if is_control {
            return true;
        }
        if !self.types.is_empty() {
            let Some((number, _)) = decoder.peek(record) else {
                return false;
            };
            let is_wanted = usize::try_from(number)
                .ok()
                .and_then(|at| self.wanted.get(at).copied());
            if !is_wanted.unwrap_or(false) {
                return false;
            }
        }
        if let Decoder::Framed(framed) = decoder {
            for one in &self.wheres {
                if one.is_ruled_out(framed, record, is_secret) {
                    return false;
                }
            }
        }
        true
    }

    /// Tell whether a row, of a record that could match, is asked for.
    pub fn has(&self, row: &Row) -> bool {
        if !self.types.is_empty() {
            let is_one = match row.meaning.type_name {
                TypeName::None => false,
                TypeName::Name(name) => self.types.contains(&normal_type(name)),
                TypeName::Number(number) => self.types.contains(&normal_type(&number.to_string())),
            };
            if !is_one {
                return false;
            }
        }
        if !self.needs_rows {
            return true;
        }
        (self.keys.is_empty() || self.has_key(row))
            && (self.topics.is_empty() || self.is_about(row))
            && self.wheres.iter().all(|one| one.holds(row))
    }

    fn has_key(&self, row: &Row) -> bool {
        let Cell::Text(key) = row.cell(Column::Key) else {
            return false;
        };
        if self.keys.contains(&*key) {
            return true;
        }
        if row.meaning.kind == "user" {
            return false;
        }
        match parse(&key) {
            Some(Json::Object(members)) => members.iter().any(|(_, value)| match value {
                Json::Text(text) => self.keys.contains(&**text),
                _ => false,
            }),
            _ => false,
        }
    }

    fn is_topic(&self, name: &[u8]) -> bool {
        self.topics.contains(name) || self.topic_ids.contains(name)
    }

    fn is_about(&self, row: &Row) -> bool {
        let is_topic_record = matches!(row.meaning.type_name, TypeName::Name("TOPIC_RECORD"));
        if let Cell::Text(id) = row.cell(Column::TopicId) {
            if self.is_topic(&id) {
                return true;
            }
            if !is_topic_record {
                return false; // no other has a name besides
            }
        }
        if row.meaning.kind == "user" {
            return false;
        }
        let (key, value) = (row.cell(Column::Key), row.cell(Column::Value));
        let parsed = |cell: &'_ Cell<'_>| match cell {
            Cell::Text(text) => parse(text).is_some_and(|found| self.names_topic(&found)),
            _ => false,
        };
        if parsed(&key) || parsed(&value) {
            return true;
        }
        let Cell::Text(value) = &value else {
            return false;
        };
        let Some(value) = parse(value) else {
            return false;
        };
        let name = if is_topic_record && matches!(value.member(b"name"), Some(Json::Text(_))) {
            value.member(b"name")
        } else if value.member(b"resourceType") == Some(&Json::Number(b"2")) {
            value.member(b"resourceName") // of configurations and ACLs
        } else {
            None
        };
        matches!(name, Some(Json::Text(name)) if self.is_topic(name))
    }

    /// Tell whether key or value of a record have a name or id that is asked for.
    fn names_topic(&self, found: &Json) -> bool {
        let text_is_topic = |one: &Json| matches!(one, Json::Text(text) if self.is_topic(text));
        match found {
            Json::Array(items) => items.iter().any(|one| self.names_topic(one)),
            Json::Object(members) => members.iter().any(|(name, value)| {
                let lower = name.to_ascii_lowercase();
                let is_list = lower.ends_with(b"topics") || lower.ends_with(b"topicnames");
                let is_named = match (&**name, value) {
                    (b"topic" | b"topicName" | b"topicId", Json::Text(_)) => text_is_topic(value),
                    (b"topicIdPartition", _) => [&b"name"[..], b"id"]
                        .iter()
                        .any(|part| value.member(part).is_some_and(text_is_topic)),
                    (_, Json::Array(items)) if is_list => items.iter().any(|one| {
                        text_is_topic(one) || one.member(b"name").is_some_and(text_is_topic)
                    }),
                    _ => false,
                };
                is_named || self.names_topic(value)
            }),
            _ => false,
        }
    }
}

impl Where {
    /// Tell whether the bytes of a record already say that this does not hold.
    fn is_ruled_out(&self, framed: &Framed, record: &Record, is_secret: bool) -> bool {
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
                Ok(None) => return true, // what is not there is not shown
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

    fn holds(&self, row: &Row) -> bool {
        let mut out = Vec::new();
        self.put(row, &mut out) && out == self.text
    }

    /// Append the text of what is at the path; false where nothing is.
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
