//! Decoders of keys and values: to the text of Kafka's tool, or to the columns of a row.
mod control;
mod frame;
mod framed;
mod keyed;
mod secrets;
mod template;
mod user;

use crate::batch::Record;
pub use control::Control;
pub use frame::{Framing, read_body, unknown_type};
pub use framed::Framed;
pub use keyed::Keyed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use user::UserForm;

/// The largest key and value, in bytes; a batch of KRaft metadata has no more (`KafkaRaftClient`).
const LARGEST_DECODED: usize = 8 * 1024 * 1024;

pub enum Decoder {
    User(UserForm, UserForm),
    Framed(Framed),
    Keyed(Keyed),
}

#[derive(Clone, Copy, PartialEq)]
pub enum TypeName<'a> {
    None,
    Name(&'a str),
    Unknown(i32),
}

/// The name of an unknown type, as Kafka has it for control records.
pub fn unknown_name(number: i32) -> String {
    format!("UNKNOWN({number})")
}

/// A key or value as a row shows it; JSON is in the scratch of its column.
#[derive(PartialEq)]
pub enum Shown<'a> {
    Null,
    Json,
    Text(&'a [u8]),
    Owned(Vec<u8>),
    Base64(&'a [u8]),
}

/// The fields of a row from `kind` on (`kraftops.records.meaning.Meaning`).
pub struct Meaning<'a> {
    pub kind: &'a str,
    pub type_name: TypeName<'a>,
    pub version: Option<i32>,
    pub key: Shown<'a>,
    pub value: Shown<'a>,
    pub topic: Option<[u8; 16]>,
    pub partition: Option<i32>,
    pub broker: Option<i32>,
    pub error: Option<String>,
}

/// What a meaning tells: kind, type and version; ids and the error, too; key and value, too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    Head,
    Ids,
    All,
}

#[derive(Default)]
pub struct Scratch {
    pub key: Vec<u8>,
    pub value: Vec<u8>,
}

/// One of the texts in the scratch.
#[derive(Clone, Copy)]
pub enum Part {
    Key,
    Value,
}

impl Scratch {
    pub fn part(&self, part: Part) -> &[u8] {
        match part {
            Part::Key => &self.key,
            Part::Value => &self.value,
        }
    }
}

/// A record's key and value as Kafka's tool prints them.
pub struct Texts<'a> {
    pub key: Printed<'a>,
    pub value: Printed<'a>,
    /// The reason why the record could not be read; the tool goes on.
    pub trouble: Option<String>,
}

pub enum Printed<'a> {
    Nothing,
    /// In the scratch of its column.
    Scratch,
    /// Text as Java decodes it.
    Utf8(&'a [u8]),
    Hex(&'a [u8]),
}

struct Unknown {
    reason: String,
    number: Option<i32>,
    version: Option<i32>,
}

impl<'a> Meaning<'a> {
    fn of(kind: &'a str) -> Self {
        Meaning {
            kind,
            type_name: TypeName::None,
            version: None,
            key: Shown::Null,
            value: Shown::Null,
            topic: None,
            partition: None,
            broker: None,
            error: None,
        }
    }

    fn too_large(kind: &'a str, size: usize) -> Self {
        Meaning {
            error: Some(excess_text(size)),
            ..Meaning::of(kind)
        }
    }

    fn unknown(kind: &'a str, record: &Record<'a>, unknown: Unknown) -> Self {
        Meaning {
            type_name: unknown.number.map_or(TypeName::None, TypeName::Unknown),
            version: unknown.version,
            key: record.key.map_or(Shown::Null, Shown::Base64),
            value: record.value.map_or(Shown::Null, Shown::Base64),
            error: Some(format!("{} at offset {}", unknown.reason, record.offset)),
            ..Meaning::of(kind)
        }
    }
}

impl Shown<'_> {
    /// The JSON that is shown, in the scratch of its column.
    pub fn json<'a>(&self, scratch: &'a [u8]) -> Option<&'a [u8]> {
        matches!(self, Shown::Json).then_some(scratch)
    }
}

impl Unknown {
    fn of(reason: impl Into<String>) -> Self {
        Unknown {
            reason: reason.into(),
            number: None,
            version: None,
        }
    }
}

fn int16(raw: &[u8]) -> Option<i32> {
    raw.first_chunk::<2>()
        .map(|two| i16::from_be_bytes(*two) as i32)
}

/// The size of a record that is too large: decoded, it could take a hundred times its bytes.
fn excess(record: &Record) -> Option<usize> {
    let size = record.key.map_or(0, <[u8]>::len) + record.value.map_or(0, <[u8]>::len);
    (size > LARGEST_DECODED).then_some(size)
}

fn excess_text(size: usize) -> String {
    format!("a record of {size} bytes, decoded up to {LARGEST_DECODED}")
}

/// Fail for a record that is too large.
pub fn refuse_large(record: &Record) -> Result<(), String> {
    excess(record).map_or(Ok(()), |size| {
        Err(format!(
            "a record of {size} bytes is not decoded, only up to {LARGEST_DECODED}"
        ))
    })
}

impl Decoder {
    pub fn kind(&self) -> &str {
        match self {
            Decoder::User(..) => "user",
            Decoder::Framed(framed) => &framed.kind,
            Decoder::Keyed(keyed) => &keyed.kind,
        }
    }

    /// Whether keys and values are the bytes themselves in a table.
    pub fn shows_bytes(&self) -> bool {
        matches!(self, Decoder::User(UserForm::Text, UserForm::Text))
    }

    /// Whether records have types; the size of these is bounded.
    pub fn has_types(&self) -> bool {
        !matches!(self, Decoder::User(..))
    }

    /// The error of a record that is too large to be decoded.
    pub fn excess_text(&self, record: &Record, is_control: bool) -> Option<String> {
        if !is_control && !self.has_types() {
            return None;
        }
        excess(record).map(excess_text)
    }

    /// The known type of a record outside control batches, from as few bytes as possible.
    #[inline]
    pub fn peek(&self, record: &Record) -> Option<(i32, &str)> {
        match self {
            Decoder::User(..) => None,
            Decoder::Framed(framed) => {
                let frame = framed.frame(record.value?).ok()?;
                framed
                    .type_of(frame.number)
                    .map(|record_type| (frame.number, &*record_type.name))
            }
            Decoder::Keyed(keyed) => {
                let number = int16(record.key?)?;
                keyed.type_name(number).map(|name| (number, name))
            }
        }
    }

    /// The meaning of a record outside control batches.
    pub fn meaning<'a>(
        &'a self,
        record: &Record<'a>,
        scratch: &mut Scratch,
        depth: Depth,
        redacts: bool,
    ) -> Meaning<'a> {
        if let Some(size) = excess(record).filter(|_| self.has_types()) {
            return Meaning::too_large(self.kind(), size);
        }
        match self {
            Decoder::Framed(framed) => match depth {
                Depth::Head => framed.head(record),
                Depth::Ids => framed
                    .ids(record)
                    .unwrap_or_else(|| framed.meaning(record, scratch, redacts)),
                Depth::All => framed.meaning(record, scratch, redacts),
            },
            Decoder::Keyed(keyed) => keyed.meaning(record, scratch, depth > Depth::Head),
            Decoder::User(key, value) if depth == Depth::All => user::meaning(record, *key, *value),
            Decoder::User(..) => Meaning::of("user"),
        }
    }

    /// Tell whether a record is known to be readable, so that its meaning has no error.
    pub fn is_readable(&self, record: &Record) -> bool {
        match self {
            Decoder::Framed(framed) => excess(record).is_none() && framed.is_readable(record),
            Decoder::Keyed(_) | Decoder::User(..) => false,
        }
    }

    /// The texts that Kafka's tool prints; it dies of the error.
    pub fn texts<'a>(
        &self,
        record: &Record<'a>,
        scratch: &mut Scratch,
    ) -> Result<Texts<'a>, String> {
        if self.has_types() {
            refuse_large(record)?;
        }
        match self {
            Decoder::Framed(framed) => Ok(framed.texts(record, scratch)),
            Decoder::Keyed(keyed) => keyed.texts(record, scratch),
            Decoder::User(key, value) => Ok(Texts {
                key: user::text(record.key, *key, &mut scratch.key)?,
                value: user::text(record.value, *value, &mut scratch.value)?,
                trouble: None,
            }),
        }
    }

    /// The names of the known types, by number.
    pub fn type_names(&self) -> Vec<(i32, String)> {
        match self {
            Decoder::User(..) => Vec::new(),
            Decoder::Framed(framed) => framed.type_names(),
            Decoder::Keyed(keyed) => keyed.type_names(),
        }
    }

    /// The type and version of a record outside control batches, known or not, if it has them.
    pub fn label(&self, record: &Record) -> (Option<i32>, Option<i32>) {
        match self {
            Decoder::Framed(framed) => match framed.frame(record.value.unwrap_or(b"")) {
                Ok(frame) => (Some(frame.number), Some(frame.version)),
                Err(_) => (None, None),
            },
            Decoder::Keyed(_) => match record.key.and_then(int16) {
                Some(number) => (Some(number), record.value.and_then(int16)),
                None => (None, None),
            },
            Decoder::User(..) => (None, None),
        }
    }
}

// The functions below compile the tables from Python.

type Described<'py> = Bound<'py, PyAny>;

pub fn item<'py>(of: &Bound<'py, PyDict>, name: &str) -> PyResult<Described<'py>> {
    of.get_item(name)?
        .ok_or_else(|| PyValueError::new_err(format!("no {name}")))
}

impl Decoder {
    /// Compile a decoder from a description; see `kraftops.engine.native`.
    pub fn compile(described: &Bound<PyDict>) -> PyResult<Decoder> {
        match item(described, "form")?.extract::<String>()?.as_str() {
            "user" => Ok(Decoder::User(
                UserForm::of(&item(described, "key")?.extract::<String>()?)?,
                UserForm::of(&item(described, "value")?.extract::<String>()?)?,
            )),
            "framed" => Framed::compile(described).map(Decoder::Framed),
            "keyed" => Keyed::compile(described).map(Decoder::Keyed),
            other => Err(PyValueError::new_err(format!("no decoder {other}"))),
        }
    }
}
