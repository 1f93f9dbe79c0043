//! Values with a frame before the body: metadata records and `__remote_log_metadata`.
use super::frame::{Frame, Framing, read_body, unknown_type, unreadable};
use super::secrets::Configs;
use super::template::Template;
use super::{Meaning, Printed, Scratch, Shown, Texts, TypeName, Unknown, item};
use crate::batch::Record;
use crate::plan::{Kind, Message, Plan, PlanOptions, Slots};
use crate::reader::Reader;
use crate::text::put;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The decoder of values with a frame.
pub struct Framed {
    pub kind: Box<str>,
    framing: Framing,
    types: Vec<Option<Type>>,
}

pub struct Type {
    pub name: Box<str>,
    pub message: Message,
    redacted: Option<Message>,
    /// The choice of secret values by the name in slot 3 and the type of resource in slot 4.
    configs: Option<Configs>,
    template: Option<Template>,
}

impl Type {
    pub fn may_be_secret(&self) -> bool {
        self.redacted.is_some()
    }

    /// Tell whether the secret fields of a value that was read are secret in it.
    fn is_secret(&self, frame: &Frame, raw: &[u8], slots: &Slots) -> bool {
        let Some(configs) = &self.configs else {
            return true;
        };
        let plan = self.message.plan(frame.version);
        let name = slots.0[3].and_then(|(start, _)| plan?.string_at(raw, start));
        let code = slots.0[4].and_then(|(start, _)| raw.get(start as usize));
        match (code, name) {
            (Some(code), Some(name)) => configs.is_secret(*code as i8, name),
            _ => true,
        }
    }
}

impl Framed {
    /// The names of the known types, by number.
    pub fn type_names(&self) -> Vec<(i32, String)> {
        let types = self.types.iter().enumerate();
        types
            .filter_map(|(number, record_type)| {
                Some((number as i32, record_type.as_ref()?.name.to_string()))
            })
            .collect()
    }

    #[inline(always)]
    pub fn type_of(&self, number: i32) -> Option<&Type> {
        usize::try_from(number)
            .ok()
            .and_then(|place| self.types.get(place))?
            .as_ref()
    }

    /// Read the frame of a value; the error is in Kafka's words.
    #[inline(always)]
    pub fn frame(&self, value: &[u8]) -> Result<Frame, String> {
        self.framing.frame(value)
    }

    /// Return the parts of a value that `--where` needs: number, version, type, plan, body.
    pub fn plan_of(&self, value: &[u8]) -> Option<(i32, i32, &Type, &Plan, usize)> {
        let frame = self.frame(value).ok()?;
        let record_type = self.type_of(frame.number)?;
        Some((
            frame.number,
            frame.version,
            record_type,
            record_type.message.plan(frame.version)?,
            frame.body,
        ))
    }

    /// Append the JSON of a value's body; *before* appends text before it.
    fn json(
        &self,
        value: Option<&[u8]>,
        out: &mut Vec<u8>,
        slots: &mut Slots,
        before: impl FnOnce(&mut Vec<u8>, &Type, &Frame),
    ) -> Result<(&Type, Frame), Unknown> {
        let raw = value.unwrap_or(b"");
        let frame = self.frame(raw).map_err(Unknown::of)?;
        let failed = |reason: String| Unknown {
            reason,
            number: Some(frame.number),
            version: Some(frame.version),
        };
        let Some(record_type) = self.type_of(frame.number) else {
            return Err(failed(unknown_type(frame.number)));
        };
        read_body(&record_type.message, &frame, raw, |plan, reader| {
            before(out, record_type, &frame);
            plan.json(reader, out, slots)
        })
        .map_err(failed)?;
        Ok((record_type, frame))
    }

    pub fn texts<'a>(&self, record: &Record<'a>, scratch: &mut Scratch) -> Texts<'a> {
        let out = &mut scratch.value;
        out.clear();
        let mut trouble = None;
        if let Err(reason) = self.payload(record, out) {
            out.clear();
            let offset = record.offset;
            let is_remote = self
                .types
                .iter()
                .flatten()
                .any(|record_type| record_type.template.is_some());
            let before_offset = if is_remote { "offset " } else { "" };
            put!(
                out,
                "Error at ",
                before_offset,
                offset,
                ", skipping. ",
                reason.as_str()
            );
            trouble = Some(reason);
        }
        Texts {
            key: Printed::Nothing,
            value: Printed::Scratch,
            trouble,
        }
    }

    fn payload(&self, record: &Record, out: &mut Vec<u8>) -> Result<(), String> {
        let is_remote = self
            .types
            .iter()
            .flatten()
            .any(|other_type| other_type.template.is_some());
        if is_remote && record.value.is_none() {
            return Err("the record has no value".into());
        }
        let record_type = self.json(
            record.value,
            out,
            &mut Slots::default(),
            |out, record_type, frame| {
                put!(
                    out,
                    "{\"type\":\"",
                    &*record_type.name,
                    "\",\"version\":",
                    frame.version,
                    ",\"data\":"
                );
            },
        );
        let (record_type, frame) = record_type.map_err(|unknown| unknown.reason)?;
        let Some(template) = &record_type.template else {
            out.push(b'}');
            return Ok(());
        };
        out.clear();
        let failed = || unreadable(frame.number);
        let plan = record_type
            .message
            .nearest(frame.version)
            .ok_or_else(failed)?;
        let mut reader = Reader::new(record.value.unwrap_or(b""), frame.body);
        let data = plan.value(&mut reader).map_err(|_| failed())?;
        template.show(&data, out)
    }

    /// Tell whether a record is known to be readable, without its JSON.
    pub fn is_readable(&self, record: &Record) -> bool {
        self.ids(record).is_some()
    }

    /// The meaning without key and value, and without their JSON; None if it may be unreadable.
    pub fn ids<'a>(&'a self, record: &Record<'a>) -> Option<Meaning<'a>> {
        let raw = record.value.unwrap_or(b"");
        let frame = self.frame(raw).ok()?;
        let record_type = self.type_of(frame.number)?;
        let plan = record_type.message.plan(frame.version)?;
        let located = read_body(&record_type.message, &frame, raw, |plan, reader| {
            plan.locate(reader)
        });
        let located = located.ok()?;
        let number = |slot: u8| match plan.wire_kind(slot)? {
            Kind::Int32 => located.int32(slot as usize),
            Kind::Int16 => located.int16(slot as usize).map(i32::from),
            _ => None,
        };
        Some(Meaning {
            type_name: TypeName::Name(&record_type.name),
            version: Some(frame.version),
            topic: plan.wire_kind(0).and_then(|_| located.uuid(0)),
            partition: number(1),
            broker: number(2),
            ..Meaning::of(&self.kind)
        })
    }

    pub fn head<'a>(&'a self, record: &Record<'a>) -> Meaning<'a> {
        let Ok(frame) = self.frame(record.value.unwrap_or(b"")) else {
            return Meaning::of(&self.kind);
        };
        let name = self.type_of(frame.number);
        Meaning {
            type_name: name.map_or(TypeName::Unknown(frame.number), |record_type| {
                TypeName::Name(&record_type.name)
            }),
            version: Some(frame.version),
            ..Meaning::of(&self.kind)
        }
    }

    pub fn meaning<'a>(
        &'a self,
        record: &Record<'a>,
        scratch: &mut Scratch,
        redacts: bool,
    ) -> Meaning<'a> {
        let mut slots = Slots::default();
        scratch.value.clear();
        let record_type = self.json(record.value, &mut scratch.value, &mut slots, |_, _, _| {});
        let (record_type, frame) = match record_type {
            Err(unknown) => return self.unread(record, unknown, scratch, redacts),
            Ok((record_type, frame)) => match record_type.message.plan(frame.version) {
                Some(_) => (record_type, frame),
                None => {
                    let unknown = Unknown {
                        reason: format!(
                            "unknown version {} of {}",
                            frame.version, record_type.message.name
                        ),
                        number: Some(frame.number),
                        version: Some(frame.version),
                    };
                    return self.unread(record, unknown, scratch, redacts);
                }
            },
        };
        let raw = record.value.unwrap_or(b"");
        if let Some(redacted) = record_type.redacted.as_ref().filter(|_| redacts) {
            if record_type.is_secret(&frame, raw, &slots) {
                scratch.value.clear();
                let mut reader = Reader::new(raw, frame.body);
                let plan = redacted.nearest(frame.version);
                // A body that was read once can be read again.
                plan.map(|plan| plan.json(&mut reader, &mut scratch.value, &mut Slots::default()));
            }
        }
        let number = |slot: usize| {
            let (start, kind) = slots.0[slot]?;
            let mut reader = Reader::new(raw, start as usize);
            match kind {
                Kind::Int32 => reader.i32().ok(),
                Kind::Int16 => reader.i16().ok().map(i32::from),
                _ => None,
            }
        };
        let topic = slots.0[0].and_then(|(start, _)| Reader::new(raw, start as usize).array().ok());
        Meaning {
            type_name: TypeName::Name(&record_type.name),
            version: Some(frame.version),
            key: record.key.map_or(Shown::Null, Shown::Base64),
            value: Shown::Json,
            topic,
            partition: number(1),
            broker: number(2),
            ..Meaning::of(&self.kind)
        }
    }

    fn unread<'a>(
        &'a self,
        record: &Record<'a>,
        unknown: Unknown,
        scratch: &mut Scratch,
        redacts: bool,
    ) -> Meaning<'a> {
        let number = unknown.number;
        let mut meaning = Meaning::unknown(&self.kind, record, unknown);
        if let Some(known) = number.and_then(|number| self.type_of(number)) {
            meaning.type_name = TypeName::Name(&known.name);
            if redacts && known.redacted.is_some() {
                scratch.value.clear();
                put!(&mut scratch.value, "\"<redacted>\"");
                meaning.value = Shown::Json;
            }
        }
        meaning
    }
}

impl Framed {
    pub fn compile(described: &Bound<PyDict>) -> PyResult<Framed> {
        let framing = match item(described, "framing")?.extract::<String>()?.as_str() {
            "kafka" => Framing::Kafka,
            "kip-631" => Framing::Kip631,
            "kip-631-draft" => Framing::Draft,
            other => return Err(PyValueError::new_err(format!("no framing {other}"))),
        };
        let mut types: Vec<Option<Type>> = Vec::new();
        for described_type in item(described, "types")?.try_iter()? {
            let described_type = described_type?.cast_into::<PyDict>()?;
            let message = item(&described_type, "message")?;
            let slots: Vec<(String, u8)> = item(&described_type, "slots")?.extract()?;
            let plain = PlanOptions {
                slots: slots.clone(),
                ..PlanOptions::default()
            };
            let secret: Vec<String> = item(&described_type, "secret")?.extract()?;
            let redacted = if secret.is_empty() {
                None
            } else {
                let options = PlanOptions {
                    secret: secret.into_iter().collect(),
                    redacted: "\"<redacted>\"".into(),
                    ..PlanOptions::default()
                };
                Some(Message::compile(&message, &options)?)
            };
            let number: usize = item(&described_type, "number")?.extract()?;
            if number > i16::MAX as usize {
                return Err(PyValueError::new_err(format!("no type {number}")));
            }
            if types.len() <= number {
                types.resize_with(number + 1, || None);
            }
            types[number] = Some(Type {
                name: item(&described_type, "name")?.extract::<String>()?.into(),
                message: Message::compile(&message, &plain)?,
                redacted,
                configs: match item(&described_type, "configs")? {
                    none if none.is_none() => None,
                    described => Some(Configs::compile(&described)?),
                },
                template: Template::compile(&item(&described_type, "text")?)?,
            });
        }
        let kind: String = item(described, "kind")?.extract()?;
        Ok(Framed {
            kind: kind.into(),
            framing,
            types,
        })
    }
}
