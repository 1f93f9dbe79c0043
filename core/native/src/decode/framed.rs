//! Values with type and version in front, as in the metadata log and in `__remote_log_metadata`.
use super::template::Template;
use super::{Meaning, Printed, Scratch, Shown, Texts, TypeName, Unknown, item};
use crate::batch::Record;
use crate::plan::{Kind, Message, Plan, PlanOptions, Slots};
use crate::reader::Reader;
use crate::text::put;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub enum Framing {
    Kafka,
    Kip631,
    Draft,
}

/// Values with their type and version in front, as in the metadata log.
pub struct Framed {
    pub kind: Box<str>,
    framing: Framing,
    types: Vec<Option<Type>>,
}

pub struct Type {
    pub name: Box<str>,
    pub message: Message,
    redacted: Option<Message>,
    /// Whether the value is secret only where the name in slot 3 is.
    by_name: bool,
    template: Option<Template>,
}

/// The names of configurations whose values are secret.
pub struct Secrets {
    words: Vec<Vec<u8>>,
    public: Vec<Vec<u8>>,
}

pub struct Frame {
    pub number: i32,
    pub version: i32,
    pub body: usize,
}

impl Type {
    pub fn may_be_secret(&self) -> bool {
        self.redacted.is_some()
    }
}

impl Secrets {
    pub fn new(words: Vec<String>, public: Vec<String>) -> Self {
        let bytes = |texts: Vec<String>| texts.into_iter().map(String::into_bytes).collect();
        Secrets {
            words: bytes(words),
            public: bytes(public),
        }
    }

    fn has(&self, name: &[u8]) -> bool {
        let is_named = self.words.iter().any(|word| {
            name.windows(word.len().max(1))
                .any(|part| part.eq_ignore_ascii_case(word))
        });
        is_named && !self.public.iter().any(|end| name.ends_with(end))
    }
}

/// Read a number of a frame: a varint that is cast to Java's short.
#[inline(always)]
fn frame_number(reader: &mut Reader, what: &str) -> Result<i32, String> {
    match reader.uvarint() {
        Err(_) => Err(format!("Error while reading {what}")),
        Ok(number) if number as i32 > 0x7FFF => Err(format!("Value for {what} was too large.")),
        Ok(number) => Ok(number as i16 as i32),
    }
}

impl Framing {
    /// Read what is before a record's body; the error is in Kafka's words.
    #[inline(always)]
    pub fn frame(&self, value: &[u8]) -> Result<Frame, String> {
        let mut reader = Reader::new(value, 0);
        match self {
            Framing::Kafka => match frame_number(&mut reader, "frame version")? {
                1 => {}
                0 => {
                    return Err(
                        "Could not deserialize metadata record with frame version 0. Note \
                        that upgrades from the preview release of KRaft in 2.8 to newer versions \
                        are not supported."
                            .into(),
                    );
                }
                frame => {
                    return Err(format!(
                        "Could not deserialize metadata record due to unknown frame version \
                         {frame}(only frame version 1 is supported)"
                    ));
                }
            },
            Framing::Kip631 => match frame_number(&mut reader, "frame type")? {
                0 => {}
                frame => return Err(format!("unknown frame type {frame} (KIP-631 has only 0)")),
            },
            Framing::Draft => {}
        }
        let number = frame_number(&mut reader, "type")?;
        let version = frame_number(&mut reader, "version")?;
        Ok(Frame {
            number,
            version,
            body: reader.at,
        })
    }
}

impl Framed {
    /// The types that it knows, by number.
    pub fn type_names(&self) -> Vec<(i32, String)> {
        let known = self.types.iter().enumerate();
        known
            .filter_map(|(number, one)| Some((number as i32, one.as_ref()?.name.to_string())))
            .collect()
    }

    #[inline(always)]
    pub fn type_of(&self, number: i32) -> Option<&Type> {
        usize::try_from(number)
            .ok()
            .and_then(|at| self.types.get(at))?
            .as_ref()
    }

    /// Read what is before a record's body; the error is in Kafka's words.
    #[inline(always)]
    pub fn frame(&self, value: &[u8]) -> Result<Frame, String> {
        self.framing.frame(value)
    }

    /// What a value has for `--where`, without more of it than that: a plan and its body.
    pub fn plan_of(&self, value: &[u8]) -> Option<(i32, i32, &Type, &Plan, usize)> {
        let frame = self.frame(value).ok()?;
        let found = self.type_of(frame.number)?;
        Some((
            frame.number,
            frame.version,
            found,
            found.message.plan(frame.version)?,
            frame.body,
        ))
    }

    /// Append the JSON of a value's body (`MetadataRecordSerde`); the error is in Kafka's words.
    fn json(
        &self,
        value: Option<&[u8]>,
        out: &mut Vec<u8>,
        slots: &mut Slots,
        before: impl FnOnce(&mut Vec<u8>, &Type, &Frame),
    ) -> Result<(&Type, Frame), Unknown> {
        let raw = value.unwrap_or(b"");
        let frame = self.frame(raw).map_err(Unknown::of)?;
        let Some(found) = self.type_of(frame.number) else {
            return Err(Unknown {
                reason: format!(
                    "org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata \
                     id {}",
                    frame.number
                ),
                number: Some(frame.number),
                version: Some(frame.version),
            });
        };
        let failed = |reason: String| Unknown {
            reason,
            number: Some(frame.number),
            version: Some(frame.version),
        };
        let unreadable = || {
            failed(format!(
                "Failed to deserialize record with type {}",
                frame.number
            ))
        };
        let plan = found
            .message
            .nearest(frame.version)
            .ok_or_else(unreadable)?;
        let mut reader = Reader::new(raw, frame.body);
        before(out, found, &frame);
        plan.json(&mut reader, out, slots)
            .map_err(|_| unreadable())?;
        if found.message.plan(frame.version).is_none()
            && frame.version > found.message.first
            && found
                .message
                .has_structs(plan, &Reader::new(raw, frame.body))
        {
            return Err(unreadable());
        }
        if reader.left() > 0 {
            return Err(failed(format!(
                "Found {} byte(s) of garbage after {}",
                reader.left(),
                frame.number
            )));
        }
        Ok((found, frame))
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
                .any(|one| one.template.is_some());
            let at = if is_remote { "offset " } else { "" };
            put!(
                out,
                "Error at ",
                at,
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
            .any(|one| one.template.is_some());
        if is_remote && record.value.is_none() {
            return Err("the record has no value".into());
        }
        let found = self.json(
            record.value,
            out,
            &mut Slots::default(),
            |out, found, frame| {
                put!(
                    out,
                    "{\"type\":\"",
                    &*found.name,
                    "\",\"version\":",
                    frame.version,
                    ",\"data\":"
                );
            },
        );
        let (found, frame) = found.map_err(|unknown| unknown.reason)?;
        let Some(template) = &found.template else {
            out.push(b'}');
            return Ok(());
        };
        out.clear();
        let failed = || format!("Failed to deserialize record with type {}", frame.number);
        let plan = found.message.nearest(frame.version).ok_or_else(failed)?;
        let mut reader = Reader::new(record.value.unwrap_or(b""), frame.body);
        let data = plan.value(&mut reader).map_err(|_| failed())?;
        template.show(&data, out)
    }

    pub fn head<'a>(&'a self, record: &Record<'a>) -> Meaning<'a> {
        let Ok(frame) = self.frame(record.value.unwrap_or(b"")) else {
            return Meaning::of(&self.kind);
        };
        let name = self.type_of(frame.number);
        Meaning {
            type_name: name.map_or(TypeName::Number(frame.number), |one| {
                TypeName::Name(&one.name)
            }),
            version: Some(frame.version),
            ..Meaning::of(&self.kind)
        }
    }

    pub fn meaning<'a>(
        &'a self,
        record: &Record<'a>,
        scratch: &mut Scratch,
        secrets: Option<&Secrets>,
    ) -> Meaning<'a> {
        let mut slots = Slots::default();
        scratch.value.clear();
        let found = self.json(record.value, &mut scratch.value, &mut slots, |_, _, _| {});
        let (found, frame) = match found {
            Err(unknown) => return self.unread(record, unknown, scratch, secrets),
            Ok((found, frame)) => match found.message.plan(frame.version) {
                Some(_) => (found, frame),
                None => {
                    let unknown = Unknown {
                        reason: format!(
                            "unknown version {} of {}",
                            frame.version, found.message.name
                        ),
                        number: Some(frame.number),
                        version: Some(frame.version),
                    };
                    return self.unread(record, unknown, scratch, secrets);
                }
            },
        };
        let raw = record.value.unwrap_or(b"");
        if let (Some(secrets), Some(redacted)) = (secrets, &found.redacted) {
            if !found.by_name || self.names_secret(found, &frame, raw, &slots, secrets) {
                scratch.value.clear();
                let mut reader = Reader::new(raw, frame.body);
                let plan = redacted.nearest(frame.version);
                // What could be read once can be read again.
                plan.map(|plan| plan.json(&mut reader, &mut scratch.value, &mut Slots::default()));
            }
        }
        let number = |slot: usize| {
            let (at, kind) = slots.0[slot]?;
            let mut reader = Reader::new(raw, at as usize);
            match kind {
                Kind::Int32 => reader.i32().ok(),
                Kind::Int16 => reader.i16().ok().map(i32::from),
                _ => None,
            }
        };
        let topic = slots.0[0].and_then(|(at, _)| Reader::new(raw, at as usize).array().ok());
        Meaning {
            type_name: TypeName::Name(&found.name),
            version: Some(frame.version),
            key: record.key.map_or(Shown::Null, Shown::Base64),
            value: Shown::Json,
            topic,
            partition: number(1),
            broker: number(2),
            ..Meaning::of(&self.kind)
        }
    }

    fn names_secret(
        &self,
        found: &Type,
        frame: &Frame,
        raw: &[u8],
        slots: &Slots,
        secrets: &Secrets,
    ) -> bool {
        let plan = found.message.plan(frame.version);
        let name = slots.0[3].and_then(|(at, _)| plan?.string_at(raw, at));
        name.is_none_or(|name| secrets.has(name))
    }

    fn unread<'a>(
        &'a self,
        record: &Record<'a>,
        unknown: Unknown,
        scratch: &mut Scratch,
        secrets: Option<&Secrets>,
    ) -> Meaning<'a> {
        let number = unknown.number;
        let mut found = Meaning::unknown(&self.kind, record, unknown);
        if let Some(known) = number.and_then(|number| self.type_of(number)) {
            found.type_name = TypeName::Name(&known.name);
            if secrets.is_some() && known.redacted.is_some() {
                scratch.value.clear();
                put!(&mut scratch.value, "\"<redacted>\"");
                found.value = Shown::Json;
            }
        }
        found
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
        for one in item(described, "types")?.try_iter()? {
            let one = one?.cast_into::<PyDict>()?;
            let message = item(&one, "message")?;
            let slots: Vec<(String, u8)> = item(&one, "slots")?.extract()?;
            let plain = PlanOptions {
                slots: slots.clone(),
                ..PlanOptions::default()
            };
            let secret: Vec<String> = item(&one, "secret")?.extract()?;
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
            let number: usize = item(&one, "number")?.extract()?;
            if number > i16::MAX as usize {
                return Err(PyValueError::new_err(format!("no type {number}")));
            }
            if types.len() <= number {
                types.resize_with(number + 1, || None);
            }
            types[number] = Some(Type {
                name: item(&one, "name")?.extract::<String>()?.into(),
                message: Message::compile(&message, &plain)?,
                redacted,
                by_name: item(&one, "by_name")?.extract()?,
                template: Template::compile(&item(&one, "text")?)?,
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
