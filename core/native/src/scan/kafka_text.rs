//! The lines that Kafka's tool prints of a batch and of its records.
use super::Scan;
use crate::batch::{Header, Record};
use crate::decode::{Part, Printed, Scratch};
use crate::output::{Encoding, Output};
use crate::text::put;

impl Scan {
    pub(super) fn batch_line(&mut self, header: &Header, position: i64) {
        header.line(&mut self.output.bytes, position, self.is_valid);
        if self.request.marks {
            let end = self.output.bytes.len() as i32;
            let mark = if self.request.deep { -end } else { end };
            self.marks.extend_from_slice(&mark.to_le_bytes());
        }
    }

    /// Note why Kafka's tool dies of a record that it does not print.
    pub(super) fn check_record(&mut self, record: &Record, is_control: bool, position: i64) {
        if !is_control {
            return;
        }
        self.scratch.value.clear();
        if let Err(reason) = self.control.text(record, &mut self.scratch.value) {
            self.fail(position, record.offset, &reason, self.output_size());
        }
    }

    /// Append the line that Kafka's tool prints of a record.
    #[inline]
    pub(super) fn record_line(
        &mut self,
        header: &Header,
        record: &Record,
        records: &[u8],
        position: i64,
    ) {
        let start = self.output_size();
        let out = &mut self.output.bytes;
        let mut lead = "| ";
        if !self.request.skip_metadata {
            lead = " ";
            let size = |raw: Option<&[u8]>| raw.map_or(-1, |raw| raw.len() as i64);
            put!(
                out,
                "| offset: ",
                record.offset,
                " ",
                header.time_type(),
                ": ",
                record.time,
                " keySize: ",
                size(record.key),
                " valueSize: ",
                size(record.value),
                " sequence: ",
                header.sequence_of(record.offset),
                " headerKeys: [",
            );
            if record.headers.count > 0 {
                for (number, (key, _)) in record.headers.iter().enumerate() {
                    if number > 0 {
                        self.output.bytes.push(b',');
                    }
                    self.output.value(Encoding::Java, key, records);
                }
            }
            self.output.bytes.push(b']');
        }
        let before = self.output.bytes.len();
        let shown_as = if header.is_control() {
            if self.request.skip_metadata {
                Ok(())
            } else {
                self.output.bytes.push(b' ');
                self.scratch.value.clear();
                let shown_as = self.control.text(record, &mut self.scratch.value);
                self.output
                    .rendered(Encoding::Plain, Part::Value, &self.scratch);
                shown_as
            }
        } else if self.request.payload {
            self.payload(record, records, lead, (position, start))
        } else {
            Ok(())
        };
        if let Err(reason) = shown_as {
            self.output.truncate(before);
            put!(
                &mut self.output.bytes,
                " <undecodable: ",
                reason.as_str(),
                ">"
            );
            self.fail(position, record.offset, &reason, start);
        }
        self.output.bytes.push(b'\n');
    }

    #[inline]
    fn payload(
        &mut self,
        record: &Record,
        records: &[u8],
        mut lead: &str,
        (position, start): (i64, usize),
    ) -> Result<(), String> {
        let texts = self.decoder.texts(record, &mut self.scratch)?;
        if !matches!(texts.key, Printed::Nothing) {
            put!(&mut self.output.bytes, lead, "key: ");
            lead = " ";
            print(
                &texts.key,
                Part::Key,
                &self.scratch,
                &mut self.output,
                records,
            );
        }
        if !matches!(texts.value, Printed::Nothing) {
            put!(&mut self.output.bytes, lead, "payload: ");
            print(
                &texts.value,
                Part::Value,
                &self.scratch,
                &mut self.output,
                records,
            );
        }
        if let Some(trouble) = texts.trouble.filter(|_| self.request.check) {
            let reason = format!("offset {}: {trouble}", record.offset);
            self.note(false, position, reason, start);
        }
        Ok(())
    }
}

/// Append a key or value as Kafka's tool prints it.
#[inline]
fn print(shown: &Printed, part: Part, scratch: &Scratch, output: &mut Output, records: &[u8]) {
    match shown {
        Printed::Nothing => {}
        Printed::Scratch => output.rendered(Encoding::Plain, part, scratch),
        Printed::Utf8(raw) => output.value(Encoding::Java, raw, records),
        Printed::Hex(raw) => output.value(Encoding::Hex, raw, records),
    }
}
