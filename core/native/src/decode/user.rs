//! Keys and values of user topics, by a decoder class of Kafka (`org.apache.kafka.tools.api`).
use super::{Meaning, Printed, Shown};
use crate::batch::Record;
use crate::text;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Kafka's built-in decoder classes.
#[derive(Clone, Copy, PartialEq)]
pub enum UserForm {
    Text,
    Integer(usize),
    Hex,
}

pub fn text<'a>(
    raw: Option<&'a [u8]>,
    form: UserForm,
    scratch: &mut Vec<u8>,
) -> Result<Printed<'a>, String> {
    let Some(raw) = raw else {
        return Ok(Printed::Nothing);
    };
    Ok(match form {
        UserForm::Text => Printed::Utf8(raw),
        UserForm::Hex => Printed::Hex(raw),
        UserForm::Integer(width) => {
            scratch.clear();
            text::int(scratch, integer(raw, width)?);
            Printed::Scratch
        }
    })
}

fn integer(raw: &[u8], width: usize) -> Result<i64, String> {
    let Some(bytes) = raw.get(..width) else {
        return Err(format!("{} bytes where a number has {width}", raw.len()));
    };
    let negative = bytes.first().is_some_and(|first| *first > 127);
    let start = if negative { -1i64 } else { 0 };
    Ok(bytes
        .iter()
        .fold(start, |number, byte| number << 8 | *byte as i64))
}

pub fn meaning<'a>(record: &Record<'a>, key: UserForm, value: UserForm) -> Meaning<'a> {
    let shown = |raw: Option<&'a [u8]>, form| {
        let Some(raw) = raw else { return Shown::Null };
        match form {
            UserForm::Text if std::str::from_utf8(raw).is_ok() => Shown::Text(raw),
            UserForm::Hex => {
                let mut out = Vec::with_capacity(2 * raw.len());
                text::hex(&mut out, raw);
                Shown::Owned(out)
            }
            UserForm::Integer(width) => match integer(raw, width) {
                Ok(number) => Shown::Owned(number.to_string().into_bytes()),
                Err(_) => Shown::Base64(raw),
            },
            UserForm::Text => Shown::Base64(raw),
        }
    };
    Meaning {
        key: shown(record.key, key),
        value: shown(record.value, value),
        ..Meaning::of("user")
    }
}

impl UserForm {
    pub fn of(name: &str) -> PyResult<UserForm> {
        Ok(match name {
            "text" => UserForm::Text,
            "int32" => UserForm::Integer(4),
            "int64" => UserForm::Integer(8),
            "hex" => UserForm::Hex,
            other => return Err(PyValueError::new_err(format!("no form {other}"))),
        })
    }
}
