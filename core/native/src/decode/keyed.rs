//! Keys that begin with a type and values that begin with a version, as coordinators write them.
use super::{Meaning, Printed, Scratch, Shown, Texts, TypeName, Unknown, int16, item};
use crate::batch::Record;
use crate::plan::{Message, Plan, PlanOptions, Reason, Slots};
use crate::reader::Reader;
use crate::text::put;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;

/// The decoder of the keys and values of a coordinator.
pub struct Keyed {
    pub kind: Box<str>,
    types: HashMap<i32, KeyedType>,
}

struct KeyedType {
    name: Box<str>,
    key: Message,
    value: Message,
    /// The beginning of a value's JSON that another message renders, and that message.
    other: Option<(Vec<u8>, Message)>,
}

impl Keyed {
    /// The names of the known types, by number.
    pub fn type_names(&self) -> Vec<(i32, String)> {
        self.types
            .iter()
            .map(|(number, keyed_type)| (*number, keyed_type.name.to_string()))
            .collect()
    }

    /// The name of a type, if it is known.
    pub fn type_name(&self, number: i32) -> Option<&str> {
        self.types.get(&number).map(|keyed_type| &*keyed_type.name)
    }

    fn failed(version: i32, what: &str, reason: Reason) -> String {
        // Kafka shows a missing exception text for bytes that end too early.
        let cause = if reason.is_underflow {
            "null"
        } else {
            &reason.text
        };
        format!(
            "Could not read record with version {version} from {what}'s buffer due to: {cause}."
        )
    }

    fn json(
        message: &Message,
        plan: &Plan,
        raw: &[u8],
        version: i32,
        what: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let mut reader = Reader::new(raw, 2);
        if plan.json(&mut reader, out, &mut Slots::default()).is_ok() {
            return Ok(());
        }
        match plan.check(&mut Reader::new(raw, 2), &message.name) {
            Err(reason) => Err(Keyed::failed(version, what, reason)),
            Ok(()) => Err(Keyed::failed(
                version,
                what,
                Reason {
                    text: "it cannot be shown".into(),
                    is_underflow: false,
                },
            )),
        }
    }

    fn key_json(
        keyed_type: &KeyedType,
        number: i32,
        raw: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let Some(plan) = keyed_type.key.plan(0) else {
            return Err("a key without version 0".into());
        };
        Keyed::json(&keyed_type.key, plan, raw, number, "key", out)
    }

    fn version(keyed_type: &KeyedType, number: i32, raw: &[u8]) -> Result<i32, String> {
        let Some(version) = int16(raw) else {
            return Err("Could not read version from value's buffer.".into());
        };
        if keyed_type.value.plan(version).is_none() {
            return Err(format!(
                "Found an unknown record version {version} for {number} type"
            ));
        }
        Ok(version)
    }

    fn value_json(
        keyed_type: &KeyedType,
        version: i32,
        raw: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let begun = out.len();
        let Some(plan) = keyed_type.value.plan(version) else {
            return Err("a version that is not known".into());
        };
        Keyed::json(&keyed_type.value, plan, raw, version, "value", out)?;
        let Some((start, other)) = &keyed_type.other else {
            return Ok(());
        };
        match other.plan(version) {
            Some(plan)
                if out
                    .get(begun..)
                    .is_some_and(|shown| shown.starts_with(start)) =>
            {
                out.truncate(begun);
                Keyed::json(other, plan, raw, version, "value", out)
            }
            _ => Ok(()),
        }
    }

    pub fn texts<'a>(
        &self,
        record: &Record<'a>,
        scratch: &mut Scratch,
    ) -> Result<Texts<'a>, String> {
        let Some(key) = record.key else {
            return Err(format!(
                "the record has no key: is {} the right decoder?",
                self.kind
            ));
        };
        scratch.key.clear();
        scratch.value.clear();
        let offset = record.offset;
        let trouble = match self.printed(key, record.value, scratch) {
            Ok(has_value) => {
                let value = if has_value {
                    Printed::Scratch
                } else {
                    Printed::Nothing
                };
                return Ok(Texts {
                    key: Printed::Scratch,
                    value,
                    trouble: None,
                });
            }
            Err(trouble) => trouble,
        };
        let out = &mut scratch.key;
        out.clear();
        let reason = match trouble {
            Trouble::UnknownType(number) => {
                put!(
                    out,
                    "Unknown record type ",
                    number,
                    " at offset ",
                    offset,
                    ", skipping."
                );
                format!("Unknown record type {number}")
            }
            Trouble::Unreadable(reason) => {
                put!(
                    out,
                    "Error at offset ",
                    offset,
                    ", skipping. ",
                    reason.as_str()
                );
                reason
            }
        };
        Ok(Texts {
            key: Printed::Scratch,
            value: Printed::Nothing,
            trouble: Some(reason),
        })
    }

    fn printed(
        &self,
        key: &[u8],
        value: Option<&[u8]>,
        scratch: &mut Scratch,
    ) -> Result<bool, Trouble> {
        let Some(number) = int16(key) else {
            return Err(Trouble::Unreadable(
                "Could not read version from key's buffer.".into(),
            ));
        };
        let Some(keyed_type) = self.types.get(&number) else {
            return Err(Trouble::UnknownType(number));
        };
        let out = &mut scratch.key;
        put!(out, "{\"type\":\"", number, "\",\"data\":");
        Keyed::key_json(keyed_type, number, key, out).map_err(Trouble::Unreadable)?;
        out.push(b'}');
        let out = &mut scratch.value;
        let Some(raw) = value else {
            put!(out, "<DELETE>");
            return Ok(true);
        };
        let version = Keyed::version(keyed_type, number, raw).map_err(Trouble::Unreadable)?;
        put!(out, "{\"version\":\"", version, "\",\"data\":");
        Keyed::value_json(keyed_type, version, raw, out).map_err(Trouble::Unreadable)?;
        out.push(b'}');
        Ok(true)
    }

    pub fn meaning<'a>(
        &'a self,
        record: &Record<'a>,
        scratch: &mut Scratch,
        deep: bool,
    ) -> Meaning<'a> {
        let Some(key) = record.key else {
            return self.unknown(record, Unknown::of("a record without a key"), deep);
        };
        let Some(number) = int16(key) else {
            let reason = "Could not read version from key's buffer.";
            return self.unknown(record, Unknown::of(reason), deep);
        };
        let Some(keyed_type) = self.types.get(&number) else {
            let reason = format!("unknown record type {number}");
            let unknown = Unknown {
                reason,
                number: Some(number),
                version: record.value.and_then(int16),
            };
            return self.unknown(record, unknown, deep);
        };
        scratch.key.clear();
        scratch.value.clear();
        if let Err(reason) = Keyed::key_json(keyed_type, number, key, &mut scratch.key) {
            return self.unknown(record, Unknown::of(reason), deep);
        }
        let mut meaning = Meaning {
            type_name: TypeName::Name(&keyed_type.name),
            ..Meaning::of(&self.kind)
        };
        let Some(raw) = record.value else {
            meaning.key = if deep { Shown::Json } else { Shown::Null };
            return meaning;
        };
        meaning.version = int16(raw);
        if !deep {
            return meaning;
        }
        let version = Keyed::version(keyed_type, number, raw);
        match version
            .and_then(|version| Keyed::value_json(keyed_type, version, raw, &mut scratch.value))
        {
            Ok(()) => {
                meaning.key = Shown::Json;
                meaning.value = Shown::Json;
                meaning
            }
            Err(reason) => {
                let unknown = Unknown {
                    reason,
                    number: None,
                    version: meaning.version,
                };
                Meaning {
                    type_name: meaning.type_name,
                    key: Shown::Json,
                    ..self.unknown(record, unknown, deep)
                }
            }
        }
    }

    fn unknown<'a>(&'a self, record: &Record<'a>, unknown: Unknown, deep: bool) -> Meaning<'a> {
        let meaning = Meaning::unknown(&self.kind, record, unknown);
        if deep {
            return meaning;
        }
        Meaning {
            type_name: meaning.type_name,
            version: meaning.version,
            ..Meaning::of(&self.kind)
        }
    }
}

enum Trouble {
    UnknownType(i32),
    Unreadable(String),
}

impl Keyed {
    pub fn compile(described: &Bound<PyDict>) -> PyResult<Keyed> {
        let mut types = HashMap::new();
        for described_type in item(described, "types")?.try_iter()? {
            let described_type = described_type?.cast_into::<PyDict>()?;
            let value = item(&described_type, "value")?;
            let embedded = item(&described_type, "embedded")?;
            let other = if embedded.is_none() {
                None
            } else {
                let (start, fields): (String, Vec<(String, Bound<PyAny>)>) = embedded.extract()?;
                let options = PlanOptions {
                    embedded: fields,
                    ..PlanOptions::default()
                };
                Some((start.into_bytes(), Message::compile(&value, &options)?))
            };
            types.insert(
                item(&described_type, "number")?.extract()?,
                KeyedType {
                    name: item(&described_type, "name")?.extract::<String>()?.into(),
                    key: Message::compile(&item(&described_type, "key")?, &PlanOptions::default())?,
                    value: Message::compile(&value, &PlanOptions::default())?,
                    other,
                },
            );
        }
        let kind: String = item(described, "kind")?.extract()?;
        Ok(Keyed {
            kind: kind.into(),
            types,
        })
    }
}
