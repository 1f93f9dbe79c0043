//! The frame of a value, its type and version, and the reading of the body after it.
use crate::plan::{Message, Plan};
use crate::reader::{ReadResult, Reader};

/// The frames of Kafka and of the drafts of KIP-631.
pub enum Framing {
    Kafka,
    Kip631,
    Draft,
}

/// The type and version of a value, and the position of its body.
pub struct Frame {
    pub number: i32,
    pub version: i32,
    pub body: usize,
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
    /// Read the frame of a value; the error is in Kafka's words.
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

/// The error for a type that is not in the tables, in Kafka's words.
pub fn unknown_type(number: i32) -> String {
    format!(
        "org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id {number}"
    )
}

/// The error for a body that cannot be read, in Kafka's words.
pub fn unreadable(number: i32) -> String {
    format!("Failed to deserialize record with type {number}")
}

/// Read the body of a value with *read*; the error is in Kafka's words (`MetadataRecordSerde`).
#[inline(always)]
pub fn read_body<'a, T>(
    message: &'a Message,
    frame: &Frame,
    value: &'a [u8],
    read: impl FnOnce(&'a Plan, &mut Reader<'a>) -> ReadResult<T>,
) -> Result<T, String> {
    let unreadable = || unreadable(frame.number);
    let plan = message.nearest(frame.version).ok_or_else(unreadable)?;
    let mut reader = Reader::new(value, frame.body);
    let body = read(plan, &mut reader).map_err(|_| unreadable())?;
    if message.plan(frame.version).is_none()
        && frame.version > message.first
        && message.has_structs(plan, &Reader::new(value, frame.body))
    {
        return Err(unreadable());
    }
    if reader.left() > 0 {
        return Err(format!(
            "Found {} byte(s) of garbage after {}",
            reader.left(),
            frame.number
        ));
    }
    Ok(body)
}
