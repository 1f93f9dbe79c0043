//! The selection of records by their header, bytes and rows (`kraftops.query.filters.Filter`).
mod condition;
mod regex;
mod sources;
mod value;

use crate::batch::Header;
use crate::decode::{Decoder, TypeName, item, unknown_name};
use crate::json::{Json, parse};
use crate::row::{Cell, Column, Row};
pub use condition::Verdict;
use condition::{Condition, Source};
use pyo3::prelude::*;
use pyo3::types::PyDict;
pub use sources::OfRecord;
use sources::{OfBatch, OfRow};
use std::collections::HashSet;

type Names = HashSet<Vec<u8>>;

pub struct Select {
    types: HashSet<String>,
    /// Whether the decoder's record type of a number is one of *types*.
    wanted: Vec<bool>,
    first_offset: i64,
    last_offset: i64,
    since: i64,
    pub until: Option<i64>,
    has_limits: bool,
    keys: Names,
    topics: Names,
    topic_ids: Names,
    condition: Option<Condition>,
    pub is_empty: bool,
    pub needs_rows: bool,
}

/// Return a record type in the form for comparison: partitionchange.
fn normal_type(name: &str) -> String {
    let plain: String = name.chars().filter(|c| *c != '_' && *c != '-').collect();
    let plain = plain.to_lowercase();
    plain.strip_suffix("record").unwrap_or(&plain).to_owned()
}

impl Select {
    pub fn compile(described: &Bound<PyDict>, decoder: &Decoder) -> PyResult<Select> {
        let item = |name: &str| item(described, name);
        let names = |name: &str| -> PyResult<Names> {
            let texts: Vec<Vec<u8>> = item(name)?.extract()?;
            Ok(texts.into_iter().collect())
        };
        let types: HashSet<String> = item("types")?
            .extract::<Vec<String>>()?
            .into_iter()
            .collect();
        let described_condition = item("where")?;
        let condition = if described_condition.is_none() {
            None
        } else {
            Some(Condition::compile(&described_condition)?)
        };
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
        let needs_rows = !(keys.is_empty() && topics.is_empty() && condition.is_none());
        let has_limits =
            (first_offset, last_offset, since) != (i64::MIN, i64::MAX, i64::MIN) || until.is_some();
        let is_empty = !needs_rows && !has_limits && types.is_empty();
        Ok(Select {
            types,
            wanted: flags,
            first_offset,
            last_offset,
            since,
            until,
            has_limits,
            keys,
            topics,
            topic_ids,
            condition,
            is_empty,
            needs_rows,
        })
    }

    /// The limits of offsets, if there is no other condition.
    pub fn offsets_only(&self) -> Option<(i64, i64)> {
        let is_any_time = self.since == i64::MIN && self.until.is_none();
        let is_only = is_any_time && !self.needs_rows && self.types.is_empty();
        is_only.then_some((self.first_offset, self.last_offset))
    }

    pub fn has_types(&self) -> bool {
        !self.types.is_empty()
    }

    /// Tell whether a batch can hold a match, by its header.
    pub fn may_match_batch(&self, header: &Header) -> bool {
        let last = header.base_offset as i128 + header.last_delta as i128;
        header.base_offset <= self.last_offset
            && last >= self.first_offset as i128
            && header.max_time >= self.since
            && self.may_hold(&OfBatch(header))
    }

    fn may_hold(&self, source: &impl Source) -> bool {
        let condition = self.condition.as_ref();
        condition.is_none_or(|condition| condition.may_hold(source))
    }

    /// Return what is known of a record by offset, time, type and the bytes that conditions name.
    #[inline]
    pub fn verdict(&self, of_record: OfRecord) -> Verdict {
        let (header, record, decoder) =
            (of_record.common.header, of_record.record, of_record.decoder);
        if self.has_limits
            && !((self.first_offset..=self.last_offset).contains(&record.offset)
                && record.time >= self.since
                && self.until.is_none_or(|until| record.time < until))
        {
            return Verdict::Never;
        }
        if !self.types.is_empty() && !header.is_control() {
            let Some((number, _)) = decoder.peek(record) else {
                return Verdict::Never;
            };
            let is_wanted = usize::try_from(number)
                .ok()
                .and_then(|place| self.wanted.get(place).copied());
            if !is_wanted.unwrap_or(false) {
                return Verdict::Never;
            }
        }
        match &self.condition {
            Some(condition) => condition.verdict(&of_record),
            None => Verdict::IfReadable(true),
        }
    }

    /// Tell whether a record matches that is known to be readable; None if its row must tell.
    pub fn decided(&self, verdict: Verdict) -> Option<bool> {
        match verdict {
            Verdict::IfReadable(holds) if self.keys.is_empty() && self.topics.is_empty() => {
                Some(holds)
            }
            _ => None,
        }
    }

    /// Tell whether a row matches, of a record with a verdict.
    pub fn matches_row(&self, row: &Row, verdict: Verdict) -> bool {
        if !self.types.is_empty() {
            let is_one = match row.meaning.type_name {
                TypeName::None => false,
                TypeName::Name(name) => self.types.contains(&normal_type(name)),
                TypeName::Unknown(number) => {
                    self.types.contains(&normal_type(&unknown_name(number)))
                }
            };
            if !is_one {
                return false;
            }
        }
        if !self.needs_rows {
            return true;
        }
        (self.keys.is_empty() || self.has_key(row))
            && (self.topics.is_empty() || self.names_row_topic(row))
            && self.holds(row, verdict)
    }

    /// Tell whether the condition holds: by the verdict on a record that was read if that tells,
    /// since the row's JSON takes longer.
    fn holds(&self, row: &Row, verdict: Verdict) -> bool {
        match verdict {
            Verdict::IfReadable(holds) if row.meaning.error.is_none() => holds,
            _ => self.may_hold(&OfRow::new(row)),
        }
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

    fn names_row_topic(&self, row: &Row) -> bool {
        let is_topic_record = matches!(row.meaning.type_name, TypeName::Name("TOPIC_RECORD"));
        if let Cell::Text(id) = row.cell(Column::TopicId) {
            if self.is_topic(&id) {
                return true;
            }
            if !is_topic_record {
                return false; // only a topic record has a name beside its id
            }
        }
        if row.meaning.kind == "user" {
            return false;
        }
        let (key, value) = (row.cell(Column::Key), row.cell(Column::Value));
        let parsed = |cell: &'_ Cell<'_>| match cell {
            Cell::Text(text) => parse(text).is_some_and(|json| self.names_topic(&json)),
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

    /// Tell whether a key or value names one of the topics.
    fn names_topic(&self, topics: &Json) -> bool {
        let text_is_topic = |topic: &Json| matches!(topic, Json::Text(text) if self.is_topic(text));
        match topics {
            Json::Array(items) => items.iter().any(|topic| self.names_topic(topic)),
            Json::Object(members) => members.iter().any(|(name, value)| {
                let lower = name.to_ascii_lowercase();
                let is_list = lower.ends_with(b"topics") || lower.ends_with(b"topicnames");
                let is_named = match (&**name, value) {
                    (b"topic" | b"topicName" | b"topicId", Json::Text(_)) => text_is_topic(value),
                    (b"topicIdPartition", _) => [&b"name"[..], b"id"]
                        .iter()
                        .any(|part| value.member(part).is_some_and(text_is_topic)),
                    (_, Json::Array(items)) if is_list => items.iter().any(|topic| {
                        text_is_topic(topic) || topic.member(b"name").is_some_and(text_is_topic)
                    }),
                    _ => false,
                };
                is_named || self.names_topic(value)
            }),
            _ => false,
        }
    }
}
