//! Plans of message versions: their fields on the wire and in Kafka's JSON.
//!
//! Plans are compiled from the message tables (`kraftops.schema.message`); no message is named here.
mod check;
mod json;
mod locate;
mod values;

use crate::reader::Reader;
use crate::text::{self, Fixed, put, truth};
pub use check::Reason;
pub use locate::LocatedFields;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::HashSet;

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Bool,
    Int8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Float64,
    Uuid,
    String,
    Bytes,
    Struct,
}

/// The rendering of a value.
pub enum Shown {
    /// As in Kafka's JSON.
    Plain,
    /// A secret: this text in quotes, unless it is null.
    Redacted(Box<[u8]>),
    /// A message of its own that begins with its version; other bytes are in base64.
    Embedded(Box<Message>),
    /// The default: the version that is read has no such field.
    Default,
}

pub struct Field {
    pub name: Box<str>,
    prefix: Fixed,
    pub kind: Kind,
    pub array: bool,
    nullable: bool,
    tag: Option<u32>,
    /// The place in the definition and in JSON.
    order: u16,
    slot: Option<u8>,
    shown: Shown,
    default: Box<[u8]>,
    inner: Option<Plan>,
}

pub struct Plan {
    flexible: bool,
    version: i32,
    pub wire: Vec<Field>,
    tagged: Vec<Field>,
    /// The place of the first tagged field; wire fields may follow it in JSON.
    first_tagged: u16,
    absent: Vec<u32>,
}

/// The positions of some fields of a message: topic id, partition id, broker id, name, type of
/// resource.
#[derive(Default, Clone, Copy)]
pub struct Slots(pub [Option<(u32, Kind)>; 5]);

impl Slots {
    #[inline(always)]
    fn note(&mut self, field: &Field, start: usize) {
        if let Some(place) = field.slot.and_then(|slot| self.0.get_mut(slot as usize)) {
            *place = Some((start as u32, field.kind));
        }
    }
}

/// A decoded value.
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uuid([u8; 16]),
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    Array(Vec<Value<'a>>),
    Struct(Vec<(&'a str, Value<'a>)>),
}

/// The versions of a message.
pub struct Message {
    pub name: Box<str>,
    pub first: i32,
    plans: Vec<Plan>,
    structs: HashSet<Box<str>>,
}

type Versions = (i32, Option<i32>);

fn has(versions: Versions, version: i32) -> bool {
    versions.0 <= version && versions.1.is_none_or(|last| version <= last)
}

impl Kind {
    fn of(name: &str) -> Kind {
        match name {
            "bool" => Kind::Bool,
            "int8" => Kind::Int8,
            "int16" => Kind::Int16,
            "uint16" => Kind::Uint16,
            "int32" => Kind::Int32,
            "uint32" => Kind::Uint32,
            "int64" => Kind::Int64,
            "float64" => Kind::Float64,
            "uuid" => Kind::Uuid,
            "string" => Kind::String,
            "bytes" => Kind::Bytes,
            _ => Kind::Struct,
        }
    }

    pub fn width(self) -> usize {
        match self {
            Kind::Bool | Kind::Int8 => 1,
            Kind::Int16 | Kind::Uint16 => 2,
            Kind::Int32 | Kind::Uint32 => 4,
            Kind::Int64 | Kind::Float64 => 8,
            Kind::Uuid => 16,
            Kind::String | Kind::Bytes | Kind::Struct => 0,
        }
    }
}

/// The differences from Kafka's JSON: secret fields, and fields with messages inside.
#[derive(Default)]
pub struct PlanOptions<'py> {
    pub secret: HashSet<String>,
    pub redacted: String,
    pub embedded: Vec<(String, Bound<'py, PyAny>)>,
    /// Fields with a slot, by name.
    pub slots: Vec<(String, u8)>,
}

impl Message {
    /// Compile the plans of all versions of a message.
    pub fn compile(message: &Bound<PyAny>, options: &PlanOptions) -> PyResult<Message> {
        let (first, last): Versions = message.getattr("versions")?.extract()?;
        let fields = message.getattr("fields")?;
        let mut plans = Vec::new();
        for version in first..=last.unwrap_or(first) {
            let flexible = is_flexible(message, version)?;
            plans.push(Plan::compile(
                &fields, version, version, flexible, options, true,
            )?);
        }
        let mut structs = HashSet::new();
        for field in fields.try_iter()? {
            let field = field?;
            if Kind::of(&field.getattr("type")?.extract::<String>()?) == Kind::Struct {
                structs.insert(field.getattr("name")?.extract::<String>()?.into());
            }
        }
        let name: String = message.getattr("name")?.extract()?;
        Ok(Message {
            name: name.into(),
            first,
            plans,
            structs,
        })
    }

    /// Compile plans that read version 0 and render each version.
    pub fn compile_shown(message: &Bound<PyAny>) -> PyResult<Message> {
        let (_, last): Versions = message.getattr("versions")?.extract()?;
        let fields = message.getattr("fields")?;
        let mut plans = Vec::new();
        for shown in 0..=last.unwrap_or(0) {
            let flexible = is_flexible(message, 0)?;
            plans.push(Plan::compile(
                &fields,
                0,
                shown,
                flexible,
                &PlanOptions::default(),
                true,
            )?);
        }
        let name: String = message.getattr("name")?.extract()?;
        Ok(Message {
            name: name.into(),
            first: 0,
            plans,
            structs: HashSet::new(),
        })
    }

    #[inline(always)]
    pub fn plan(&self, version: i32) -> Option<&Plan> {
        usize::try_from(version - self.first)
            .ok()
            .and_then(|place| self.plans.get(place))
    }

    /// The plan of the nearest known version, which Kafka's readers use.
    pub fn nearest(&self, version: i32) -> Option<&Plan> {
        let last = self.first + self.plans.len() as i32 - 1;
        self.plan(version.clamp(self.first, last.max(self.first)))
    }

    /// Tell whether a message has a struct: Kafka then checks the version.
    pub fn has_structs(&self, plan: &Plan, reader: &Reader) -> bool {
        let Ok(Value::Struct(members)) = plan.value(&mut reader.clone()) else {
            return false;
        };
        members.iter().any(|(name, value)| {
            self.structs.contains(*name)
                && match value {
                    Value::Null => false,
                    Value::Array(items) => !items.is_empty(),
                    Value::Struct(members) => !members.is_empty(),
                    _ => true,
                }
        })
    }
}

fn is_flexible(message: &Bound<PyAny>, version: i32) -> PyResult<bool> {
    let flexible: Option<Versions> = message.getattr("flexible")?.extract()?;
    Ok(flexible.is_some_and(|versions| has(versions, version)))
}

impl Plan {
    fn compile(
        fields: &Bound<PyAny>,
        version: i32,
        shown_version: i32,
        flexible: bool,
        options: &PlanOptions,
        is_top: bool,
    ) -> PyResult<Plan> {
        let mut wire = Vec::new();
        let mut tagged: Vec<Field> = Vec::new();
        let mut absent = Vec::new();
        for (order, field) in fields.try_iter()?.enumerate() {
            let field = field?;
            let name: String = field.getattr("name")?.extract()?;
            let tag: Option<u32> = field.getattr("tag")?.extract()?;
            let versions: Versions = field.getattr("versions")?.extract()?;
            let is_read = has(versions, version);
            if !is_read {
                absent.extend(tag);
            }
            if !has(versions, shown_version) || (!is_read && tag.is_some()) {
                continue;
            }
            let kind = Kind::of(&field.getattr("type")?.extract::<String>()?);
            let array: bool = field.getattr("array")?.extract()?;
            let inner = if kind == Kind::Struct {
                let fields = field.getattr("fields")?;
                Some(Plan::compile(
                    &fields,
                    version,
                    shown_version,
                    flexible,
                    options,
                    false,
                )?)
            } else {
                None
            };
            let shown = if !is_read {
                Shown::Default
            } else if options.secret.contains(&name) {
                Shown::Redacted(options.redacted.as_bytes().into())
            } else if let Some((_, message)) = options.embedded.iter().find(|(of, _)| *of == name) {
                Shown::Embedded(Box::new(Message::compile(
                    message,
                    &PlanOptions::default(),
                )?))
            } else {
                Shown::Plain
            };
            let slot = options.slots.iter().find(|(of, _)| is_top && *of == name);
            let compiled = Field {
                prefix: Fixed::new(format!("\"{name}\":").as_bytes()),
                name: name.into(),
                kind,
                array,
                nullable: field.getattr("nullable")?.extract()?,
                tag,
                order: order as u16,
                slot: slot.map(|(_, slot)| *slot),
                shown,
                default: default_text(&field.getattr("default")?, kind, array, inner.as_ref())?,
                inner,
            };
            if tag.is_some() {
                tagged.push(compiled)
            } else {
                wire.push(compiled)
            }
        }
        let first_tagged = tagged
            .iter()
            .map(|field| field.order)
            .min()
            .unwrap_or(u16::MAX);
        let behind = wire.iter().filter(|field| field.order > first_tagged);
        if behind.count() + tagged.len() > json::MAX_PLACES {
            return Err(PyValueError::new_err(
                "a message with too many tagged fields",
            ));
        }
        Ok(Plan {
            flexible,
            version,
            wire,
            tagged,
            first_tagged,
            absent,
        })
    }

    /// The index of a wire field.
    pub fn wire_field(&self, name: &str) -> Option<usize> {
        self.wire.iter().position(|field| &*field.name == name)
    }

    /// The index of the wire field with a slot; None if there is no such field.
    pub fn wire_slot(&self, slot: u8) -> Option<usize> {
        self.wire.iter().position(|field| field.slot == Some(slot))
    }

    /// The kind of the wire field with a slot.
    pub fn wire_kind(&self, slot: u8) -> Option<Kind> {
        let index = self.wire_slot(slot)?;
        self.wire.get(index).map(|field| field.kind)
    }

    pub fn has_tagged_slot(&self, slot: u8) -> bool {
        self.tagged.iter().any(|field| field.slot == Some(slot))
    }

    pub fn has_tagged(&self, name: &str) -> bool {
        self.tagged.iter().any(|field| &*field.name == name)
    }

    pub fn is_flexible(&self) -> bool {
        self.flexible
    }
}

fn default_text(
    default: &Bound<PyAny>,
    kind: Kind,
    array: bool,
    inner: Option<&Plan>,
) -> PyResult<Box<[u8]>> {
    let mut out = Vec::new();
    if default.is_none() {
        put!(&mut out, "null");
    } else if array {
        put!(&mut out, "[]");
    } else {
        match kind {
            Kind::Bool => put!(&mut out, truth(default.is_truthy()?)),
            Kind::Float64 => put!(&mut out, "0.0"),
            Kind::Uuid => {
                out.push(b'"');
                text::uuid(&mut out, &[0; 16]);
                out.push(b'"');
            }
            Kind::String | Kind::Bytes => put!(&mut out, "\"\""),
            Kind::Struct => {
                let members: Vec<Vec<u8>> = inner
                    .map_or(&[][..], |plan| &plan.wire[..])
                    .iter()
                    .map(|field| [field.prefix.as_slice(), &field.default[..]].concat())
                    .collect();
                out.push(b'{');
                out.extend(members.join(&b','));
                out.push(b'}');
            }
            _ => put!(&mut out, default.extract::<i64>()?),
        }
    }
    Ok(out.into())
}
