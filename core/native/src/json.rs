//! A parser of the JSON that this crate writes, for conditions.
use crate::text;
use std::borrow::Cow;

#[derive(Debug, PartialEq)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    Number(&'a [u8]),
    Text(Cow<'a, [u8]>),
    Array(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, [u8]>, Json<'a>)>),
}

/// Parse a text that is JSON as a whole.
pub fn parse(text: &[u8]) -> Option<Json<'_>> {
    let mut parser = Parser { text, at: 0 };
    let json = parser.value(0)?;
    (parser.at == text.len()).then_some(json)
}

/// The deepest nesting; no message has more.
const MAX_DEPTH: usize = 64;

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += is_next as usize;
        is_next
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Option<Json<'a>> {
        let rest = self.text.get(self.at..)?;
        rest.starts_with(word.as_bytes()).then(|| {
            self.at += word.len();
            value
        })
    }

    fn value(&mut self, depth: usize) -> Option<Json<'a>> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                if self.eat(b'}') {
                    return Some(Json::Object(members));
                }
                loop {
                    let name = self.string()?;
                    if !self.eat(b':') {
                        return None;
                    }
                    members.push((name, self.value(depth + 1)?));
                    if self.eat(b'}') {
                        return Some(Json::Object(members));
                    }
                    if !self.eat(b',') {
                        return None;
                    }
                }
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                if self.eat(b']') {
                    return Some(Json::Array(items));
                }
                loop {
                    items.push(self.value(depth + 1)?);
                    if self.eat(b']') {
                        return Some(Json::Array(items));
                    }
                    if !self.eat(b',') {
                        return None;
                    }
                }
            }
            b'"' => self.string().map(Json::Text),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => {
                let from = self.at;
                while matches!(
                    self.peek(),
                    Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
                ) {
                    self.at += 1;
                }
                (self.at > from).then(|| Json::Number(&self.text[from..self.at]))
            }
        }
    }

    fn string(&mut self) -> Option<Cow<'a, [u8]>> {
        if !self.eat(b'"') {
            return None;
        }
        let from = self.at;
        while !matches!(self.peek()?, b'"' | b'\\') {
            self.at += 1;
        }
        if self.eat(b'"') {
            return Some(Cow::Borrowed(&self.text[from..self.at - 1]));
        }
        let mut out = self.text[from..self.at].to_vec();
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(Cow::Owned(out));
                }
                b'\\' => {
                    self.at += 1;
                    let escaped = self.peek()?;
                    self.at += 1;
                    out.push(match escaped {
                        b'b' => 8,
                        b't' => 9,
                        b'n' => 10,
                        b'f' => 12,
                        b'r' => 13,
                        b'u' => {
                            let digits = self.text.get(self.at..self.at + 4)?;
                            self.at += 4;
                            // Only control characters are written so.
                            u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
                        }
                        other => other,
                    });
                }
                byte => {
                    self.at += 1;
                    out.push(byte);
                }
            }
        }
    }
}

impl<'a> Json<'a> {
    pub fn member(&self, name: &[u8]) -> Option<&Json<'a>> {
        match self {
            // Of several members with one name, the last counts.
            Json::Object(members) => members
                .iter()
                .rev()
                .find(|(member, _)| **member == *name)
                .map(|(_, member)| member),
            _ => None,
        }
    }

    /// Return the value at a path of names and numbers.
    pub fn at(&self, path: &[Vec<u8>]) -> Option<&Json<'a>> {
        path.iter().try_fold(self, |json, part| match json {
            Json::Object(_) => json.member(part),
            Json::Array(items) if !part.is_empty() && part.iter().all(u8::is_ascii_digit) => {
                items.get(std::str::from_utf8(part).ok()?.parse::<usize>().ok()?)
            }
            _ => None,
        })
    }
}

pub fn put_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    text::python_json(out, text);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_values() {
        let json = parse(br#"{"a":[{"b":"x\n\u001F"},1.50],"c":null}"#).expect("JSON");
        let path = |text: &str| {
            text.split('.')
                .map(|p| p.as_bytes().to_vec())
                .collect::<Vec<_>>()
        };
        let at = |of: &str| json.at(&path(of));
        assert_eq!(at("a.0.b"), Some(&Json::Text(b"x\n\x1f"[..].into())));
        assert_eq!(at("a.1"), Some(&Json::Number(b"1.50")));
        assert_eq!(at("c"), Some(&Json::Null));
        assert_eq!(at("a.2"), None);
        assert_eq!(parse(b"{\"a\""), None);
    }
}
