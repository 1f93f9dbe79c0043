//! The reason why bytes are not a message, in the words of Kafka's readers.
use super::{Field, Kind, Plan, Shown};
use crate::reader::{Malformed, Reader};

/// The reason; Kafka has no words of its own for bytes that end too early.
pub struct Reason {
    pub text: String,
    pub is_underflow: bool,
}

impl Plan {
    /// Skip the struct at the reader; the error is the reason why it cannot be read.
    ///
    /// *name* is the message's.
    pub fn check(&self, reader: &mut Reader, name: &str) -> Result<(), Reason> {
        for field in &self.wire {
            if !matches!(field.shown, Shown::Default) {
                field.check(reader, self, name)?;
            }
        }
        if self.flexible {
            for _ in 0..uvarint(reader)? as i32 {
                let tag = uvarint(reader)?;
                let size = uvarint(reader)? as i32;
                if let Some(field) = self.tagged.iter().find(|field| field.tag == Some(tag)) {
                    field.check(reader, self, name)?;
                } else if self.absent.contains(&tag) {
                    let text = format!("Tag {tag} is not valid for version {}", self.version);
                    return Err(Reason {
                        text,
                        is_underflow: false,
                    });
                } else {
                    take(reader, size)?;
                }
            }
        }
        Ok(())
    }
}

impl Field {
    pub(super) fn check(
        &self,
        reader: &mut Reader,
        plan: &Plan,
        message: &str,
    ) -> Result<(), Reason> {
        let short = || Reason {
            text: format!("the bytes of {message} are cut short"),
            is_underflow: true,
        };
        let null = |what: &str| Reason {
            text: format!("non-nullable field {what} was serialized as null"),
            is_underflow: false,
        };
        let mut count = 1;
        if self.array {
            match self.read_length(reader, plan.flexible, false, &short)? {
                size if size < 0 && self.nullable => return Ok(()),
                size if size < 0 => return Err(null(&self.name)),
                size => count = size as usize,
            }
            if count > reader.left() {
                return Err(Reason {
                    text: format!(
                        "Tried to allocate a collection of size {count}, but there are only {} \
                         bytes remaining.",
                        reader.left()
                    ),
                    is_underflow: false,
                });
            }
        } else if self.kind == Kind::Struct && self.nullable {
            let follows = if self.tag.is_some() {
                uvarint(reader)? as i32 > 0
            } else {
                let ended = Reason {
                    text: "the bytes end before a struct".into(),
                    is_underflow: true,
                };
                reader.u8().map_err(|_| ended)? < 128
            };
            if !follows {
                return Ok(());
            }
        }
        let nullable = self.nullable && !self.array;
        match self.kind {
            Kind::Struct => {
                for _ in 0..count {
                    if let Some(inner) = &self.inner {
                        inner.check(reader, message)?;
                    }
                }
            }
            Kind::String | Kind::Bytes => {
                let is_text = self.kind == Kind::String;
                for _ in 0..count {
                    let size = self.read_length(reader, plan.flexible, is_text, &short)?;
                    if size < 0 {
                        if nullable {
                            continue;
                        }
                        let element = format!("{} element", self.name);
                        return Err(null(if self.array { &element } else { &self.name }));
                    }
                    if is_text && size > 0x7FFF {
                        let element = if self.array { " element" } else { "" };
                        let text = format!(
                            "string field {}{element} had invalid length {size}",
                            self.name
                        );
                        return Err(Reason {
                            text,
                            is_underflow: false,
                        });
                    }
                    take(reader, size)?;
                }
            }
            kind => {
                reader.take(kind.width() * count).map_err(|_| short())?;
            }
        }
        Ok(())
    }

    /// Read a length, less one if it is compact; the largest wraps as Java's int.
    pub(super) fn read_length(
        &self,
        reader: &mut Reader,
        flexible: bool,
        is_text: bool,
        short: &dyn Fn() -> Reason,
    ) -> Result<i32, Reason> {
        if flexible {
            return Ok((uvarint(reader)? as i32).wrapping_sub(1));
        }
        if is_text {
            return reader.i16().map(i32::from).map_err(|_| short());
        }
        reader.i32().map_err(|_| short())
    }
}

fn uvarint(reader: &mut Reader) -> Result<u32, Reason> {
    let mut copy = *reader;
    match reader.uvarint() {
        Ok(value) => Ok(value),
        Err(Malformed) if copy.left() < 5 => Err(Reason {
            text: "the varint is cut short".into(),
            is_underflow: true,
        }),
        Err(Malformed) => {
            let mut value = 0u32;
            for shift in [0, 7, 14, 21, 28] {
                value |= ((copy.u8().unwrap_or(0) & 127) as u32) << shift;
            }
            let text = format!(
                "Varint is too long, the most significant bit in the 5th byte is set, \
                 converted value: {value:x}"
            );
            Err(Reason {
                text,
                is_underflow: false,
            })
        }
    }
}

fn take(reader: &mut Reader, size: i32) -> Result<(), Reason> {
    let left = reader.left();
    let Ok(wanted) = usize::try_from(size) else {
        return Err(Reason {
            text: size.to_string(),
            is_underflow: false,
        });
    };
    if reader.take(wanted).is_err() {
        let text =
            format!("Error reading byte array of {size} byte(s): only {left} byte(s) available");
        return Err(Reason {
            text,
            is_underflow: false,
        });
    }
    Ok(())
}
