//! Values of columns and fields, as conditions compare them.
use crate::json::Json;
use crate::plan::Value;
use crate::row::Cell;
use crate::text;
use std::borrow::Cow;
use std::cmp::Ordering;

#[derive(Clone)]
pub enum Operand<'a> {
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(Cow<'a, [u8]>),
    List(Vec<Operand<'a>>),
    /// A list of integers of 32 bits, as its bytes.
    Ints(&'a [u8]),
    Object,
}

use Operand as O;

impl<'a> Operand<'a> {
    pub fn of_cell(cell: Cell<'a>) -> Operand<'a> {
        match cell {
            Cell::Null | Cell::Headers => O::Null,
            Cell::Int(number) => O::Int(number),
            Cell::Bool(flag) => O::Bool(flag),
            Cell::Text(text) => O::Text(text),
        }
    }

    pub fn of_json(json: &'a Json<'a>) -> Operand<'a> {
        match json {
            Json::Null => O::Null,
            Json::Bool(flag) => O::Bool(*flag),
            Json::Number(digits) => number(digits),
            Json::Text(text) => O::Text(Cow::Borrowed(text)),
            Json::Array(items) => O::List(items.iter().map(O::of_json).collect()),
            Json::Object(_) => O::Object,
        }
    }

    /// Return a decoded value; None if a row shows it otherwise.
    pub fn of_value(value: &Value<'a>) -> Option<Operand<'a>> {
        Some(match value {
            Value::Null => O::Null,
            Value::Bool(flag) => O::Bool(*flag),
            Value::Int(number) => O::Int(*number),
            Value::Uuid(raw) => {
                let mut out = Vec::with_capacity(22);
                text::uuid(&mut out, raw);
                O::Text(Cow::Owned(out))
            }
            Value::Text(raw) if std::str::from_utf8(raw).is_ok() => O::Text(Cow::Borrowed(raw)),
            Value::Array(items) => O::List(items.iter().map(O::of_value).collect::<Option<_>>()?),
            Value::Text(_) | Value::Bytes(_) | Value::Struct(_) => return None,
        })
    }

    /// The items of a list; None if it is something else.
    pub fn items(&self) -> Option<impl Iterator<Item = Cow<'_, Operand<'a>>>> {
        let (list, ints) = match self {
            O::List(items) => (&items[..], &[][..]),
            O::Ints(raw) => (&[][..], *raw),
            _ => return None,
        };
        let ints = ints.chunks_exact(4).map(|raw| Cow::Owned(int(raw)));
        Some(list.iter().map(Cow::Borrowed).chain(ints))
    }

    /// Whether it is a list with an item.
    pub fn has_items(&self) -> bool {
        self.items().is_some_and(|mut items| items.next().is_some())
    }

    /// The item of a list at an index.
    pub fn into_item(self, index: usize) -> Operand<'a> {
        match self {
            O::List(mut items) if index < items.len() => items.swap_remove(index),
            O::Ints(raw) => raw.chunks_exact(4).nth(index).map_or(O::Null, int),
            _ => O::Null,
        }
    }

    /// The order of two values of one kind.
    pub fn order(&self, other: &Operand) -> Option<Ordering> {
        match (self, other) {
            (O::Int(one), O::Int(other)) => Some(one.cmp(other)),
            (O::Float(one), O::Float(other)) => one.partial_cmp(other),
            (O::Int(one), O::Float(other)) => order(*one, *other),
            (O::Float(one), O::Int(other)) => order(*other, *one).map(Ordering::reverse),
            (O::Bool(one), O::Bool(other)) => Some(one.cmp(other)),
            (O::Text(one), O::Text(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

/// The exact order of an integer and a double.
fn order(number: i64, double: f64) -> Option<Ordering> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0; // 2^63
    if double.is_nan() {
        None
    } else if double >= BEYOND {
        Some(Ordering::Less)
    } else if double < -BEYOND {
        Some(Ordering::Greater)
    } else {
        let whole = double.trunc();
        let rest = 0.0_f64.partial_cmp(&(double - whole))?;
        Some(number.cmp(&(whole as i64)).then(rest))
    }
}

fn int(raw: &[u8]) -> Operand<'static> {
    let raw = raw.try_into().unwrap_or_default();
    O::Int(i32::from_be_bytes(raw).into())
}

fn number(digits: &[u8]) -> Operand<'static> {
    let text = std::str::from_utf8(digits).unwrap_or("");
    if let Ok(number) = text.parse() {
        return O::Int(number);
    }
    text.parse().map_or(O::Null, O::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_doubles_are_compared_exactly() {
        let large = (1_i64 << 53) + 1;
        assert_eq!(order(large, (1_i64 << 53) as f64), Some(Ordering::Greater));
        assert_eq!(order(i64::MAX, 9.3e18), Some(Ordering::Less));
        assert_eq!(order(i64::MIN, -9.3e18), Some(Ordering::Greater));
        assert_eq!(order(-1, -1.5), Some(Ordering::Greater));
        assert_eq!(order(1, 1.5), Some(Ordering::Less));
        assert_eq!(order(2, 2.0), Some(Ordering::Equal));
    }
}
