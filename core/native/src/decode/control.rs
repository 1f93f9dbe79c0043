//! Control records: transaction markers and those of KRaft (`ControlRecordType`).
use super::{Described, Meaning, Scratch, Shown, TypeName, Unknown, excess, int16, refuse_large};
use crate::batch::Record;
use crate::plan::{Message, PlanOptions, Slots};
use crate::reader::Reader;
use crate::text::put;
use pyo3::prelude::*;
use std::collections::HashMap;

/// The decoder of control records, which all logs may have.
pub struct Control {
    types: HashMap<i32, ControlType>,
}

struct ControlType {
    name: Box<str>,
    /// The text before the JSON; a transaction marker has none.
    label: Option<Box<str>>,
    message: Message,
    shown: Message,
}

impl Control {
    fn number(key: Option<&[u8]>) -> Result<i32, String> {
        let Some(key) = key else {
            return Err("a control record without a key".into());
        };
        let (Some(version), Some(number)) = (int16(key), key.get(2..).and_then(int16)) else {
            return Err(format!("a control record's key of {} bytes", key.len()));
        };
        if version < 0 {
            return Err(format!("a control record's key of version {version}"));
        }
        Ok(number)
    }

    /// The number of a control record's type; None if its key has none.
    pub fn number_of(&self, key: Option<&[u8]>) -> Option<i32> {
        Control::number(key).ok()
    }

    /// Tell of a transaction marker whether it commits; None of all other types.
    pub fn marker(&self, number: i32) -> Option<bool> {
        let control_type = self.types.get(&number)?;
        control_type
            .label
            .is_none()
            .then(|| &*control_type.name == "COMMIT")
    }

    /// Append the text that Kafka's tool prints; it dies of the error.
    pub fn text(&self, record: &Record, out: &mut Vec<u8>) -> Result<(), String> {
        refuse_large(record)?;
        let number = Control::number(record.key)?;
        let Some(control_type) = self.types.get(&number) else {
            put!(out, "controlType: UNKNOWN(", number, ")");
            return Ok(());
        };
        let Some(value) = record.value else {
            return Err("a control record without a value".into());
        };
        let Some(version) = int16(value) else {
            return Err(format!("a control record's value of {} bytes", value.len()));
        };
        let Some(label) = &control_type.label else {
            if version < 0 {
                return Err(format!("a transaction marker of version {version}"));
            }
            let Ok(epoch) = Reader::new(value, 2).i32() else {
                return Err(format!("a transaction marker of {} bytes", value.len()));
            };
            put!(
                out,
                "endTxnMarker: ",
                &*control_type.name,
                " coordinatorEpoch: ",
                epoch
            );
            return Ok(());
        };
        put!(out, &**label);
        let Some(plan) = control_type.shown.nearest(version) else {
            return Ok(());
        };
        if plan
            .json(&mut Reader::new(value, 0), out, &mut Slots::default())
            .is_err()
        {
            let checked = plan.check(&mut Reader::new(value, 0), &control_type.message.name);
            return Err(checked.err().map_or_else(String::new, |reason| reason.text));
        }
        Ok(())
    }

    pub fn meaning<'a>(&'a self, record: &Record<'a>, scratch: &mut Scratch) -> Meaning<'a> {
        if let Some(size) = excess(record) {
            return Meaning::too_large("control", size);
        }
        let number = match Control::number(record.key) {
            Ok(number) => number,
            Err(reason) => return Meaning::unknown("control", record, Unknown::of(reason)),
        };
        match self.read(number, record.value, scratch) {
            Ok((name, version)) => Meaning {
                type_name: TypeName::Name(name),
                version: Some(version),
                value: Shown::Json,
                ..Meaning::of("control")
            },
            Err(reason) => {
                let unknown = Unknown {
                    reason,
                    number: Some(number),
                    version: None,
                };
                Meaning::unknown("control", record, unknown)
            }
        }
    }

    fn read(
        &self,
        number: i32,
        value: Option<&[u8]>,
        scratch: &mut Scratch,
    ) -> Result<(&str, i32), String> {
        let Some(control_type) = self.types.get(&number) else {
            return Err(format!("unknown control record type {number}"));
        };
        let Some((value, version)) = value.and_then(|value| Some((value, int16(value)?))) else {
            return Err("a control record without a whole value".into());
        };
        // A marker's version comes before its fields, the others' is the first of them.
        let start = if control_type.label.is_none() { 2 } else { 0 };
        let plan = control_type
            .message
            .nearest(version)
            .ok_or("a version that is not known")?;
        scratch.value.clear();
        let mut reader = Reader::new(value, start);
        if plan
            .json(&mut reader, &mut scratch.value, &mut Slots::default())
            .is_err()
        {
            let checked = plan.check(&mut Reader::new(value, start), &control_type.message.name);
            return Err(checked.err().map_or_else(String::new, |reason| reason.text));
        }
        Ok((&control_type.name, version))
    }
}

impl Control {
    pub fn compile(described: &Described) -> PyResult<Control> {
        let mut types = HashMap::new();
        for control_type in described.try_iter()? {
            let (number, name, label, message): (i32, String, Option<String>, Described) =
                control_type?.extract()?;
            types.insert(
                number,
                ControlType {
                    name: name.into(),
                    label: label.map(Into::into),
                    shown: Message::compile_shown(&message)?,
                    message: Message::compile(&message, &PlanOptions::default())?,
                },
            );
        }
        Ok(Control { types })
    }
}
