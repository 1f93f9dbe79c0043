//! Texts made from a template and some values: Kafka's `toString`.
use super::Described;
use crate::plan::Value;
use crate::text::{self, put};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// A template of a text, and the conditions under which Kafka refuses to make it.
pub struct Template {
    pieces: Vec<Piece>,
    refusals: Vec<Refusal>,
}

pub enum Piece {
    Literal(String),
    Value(Vec<String>, String),
}

pub struct Refusal {
    test: String,
    field: String,
    other: Option<String>,
    reason: Vec<Piece>,
}

impl Template {
    /// Compile a template; None without one.
    pub fn compile(described: &Described) -> PyResult<Option<Template>> {
        if described.is_none() {
            return Ok(None);
        }
        let (text, refused): (Described, Described) = described.extract()?;
        Ok(Some(Template {
            pieces: pieces(&text)?,
            refusals: refusals(&refused)?,
        }))
    }

    pub fn show(&self, data: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        for refusal in &self.refusals {
            if refusal.holds(data) {
                let mut reason = Vec::new();
                show_pieces(&refusal.reason, data, &mut reason);
                return Err(String::from_utf8_lossy(&reason).into_owned());
            }
        }
        show_pieces(&self.pieces, data, out);
        Ok(())
    }
}

fn at<'a>(data: &'a Value<'a>, path: &[String]) -> Option<&'a Value<'a>> {
    path.iter().try_fold(data, |value, name| match value {
        Value::Struct(members) => members
            .iter()
            .find(|(member, _)| member == name)
            .map(|(_, value)| value),
        _ => None,
    })
}

const SEGMENT_STATES: &str = "segment state";

/// The name of a state by number; a piece's template has the names after a colon: `NAME,NAME,…`.
fn state(template: &str, number: i64) -> Option<&str> {
    let (_, names) = template.split_once(':')?;
    usize::try_from(number)
        .ok()
        .and_then(|place| names.split(',').nth(place))
}

fn show_pieces(pieces: &[Piece], data: &Value, out: &mut Vec<u8>) {
    for piece in pieces {
        let (path, template) = match piece {
            Piece::Literal(text) => {
                put!(out, text.as_str());
                continue;
            }
            Piece::Value(path, template) => (path, template.as_str()),
        };
        match (
            template.split(':').next().unwrap_or(template),
            at(data, path),
        ) {
            ("plain", Some(Value::Int(number))) => text::int(out, *number),
            ("plain", Some(Value::Bool(flag))) => put!(out, text::truth(*flag)),
            ("plain", Some(Value::Text(raw))) => text::java_utf8(out, raw),
            ("plain", None) => put!(out, "false"), // a tagged flag that is not there
            ("uuid", Some(Value::Uuid(raw))) => text::uuid(out, raw),
            ("custom", Some(Value::Bytes(raw))) => {
                put!(out, "Optional[CustomMetadata{", raw.len(), " bytes}]");
            }
            ("custom", _) => put!(out, "Optional.empty"),
            ("epochs", Some(Value::Array(items))) => show_epochs(items, out),
            (SEGMENT_STATES | "partition state", Some(Value::Int(number))) => {
                put!(out, state(template, *number).unwrap_or("null"));
            }
            _ => put!(out, "null"),
        }
    }
}

fn show_epochs(items: &[Value], out: &mut Vec<u8>) {
    let mut epochs = BTreeMap::new(); // Kafka keeps them in a sorted map
    for item in items {
        let Value::Struct(members) = item else {
            continue;
        };
        if let [(_, Value::Int(epoch)), (_, Value::Int(offset)), ..] = members[..] {
            epochs.insert(epoch, offset);
        }
    }
    out.push(b'{');
    for (number, (epoch, offset)) in epochs.into_iter().enumerate() {
        put!(out, if number > 0 { ", " } else { "" }, epoch, "=", offset);
    }
    out.push(b'}');
}

impl Refusal {
    fn holds(&self, data: &Value) -> bool {
        let int = |name: &String| match at(data, std::slice::from_ref(name)) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        };
        let number = int(&self.field);
        match self.test.split(':').next().unwrap_or("") {
            "negative" => number.is_some_and(|number| number < 0),
            "less" => number < self.other.as_ref().and_then(int),
            "empty" => match at(data, std::slice::from_ref(&self.field)) {
                Some(Value::Array(items)) => items.is_empty(),
                _ => true,
            },
            _ => number.is_none_or(|number| state(&self.test, number).is_none()),
        }
    }
}

fn pieces(described: &Described) -> PyResult<Vec<Piece>> {
    described
        .try_iter()?
        .map(|piece| {
            let piece = piece?;
            if let Ok(text) = piece.extract::<String>() {
                return Ok(Piece::Literal(text));
            }
            let (path, template) = piece.extract::<(Vec<String>, String)>()?;
            Ok(Piece::Value(path, template))
        })
        .collect()
}

fn refusals(described: &Described) -> PyResult<Vec<Refusal>> {
    described
        .try_iter()?
        .map(|refusal| {
            let refusal = refusal?;
            Ok(Refusal {
                test: refusal.get_item(0)?.extract()?,
                field: refusal.get_item(1)?.extract()?,
                other: refusal.get_item(2)?.extract()?,
                reason: pieces(&refusal.get_item(3)?)?,
            })
        })
        .collect()
}
