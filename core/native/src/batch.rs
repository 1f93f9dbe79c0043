//! Batches of magic 2: the header, the records in their framing (`DefaultRecordBatch`, KIP-98).
use crate::reader::{Malformed, ReadResult, Reader};
use crate::text::{put, truth};

pub const HEADER_SIZE: usize = 61;
const LOG_OVERHEAD: usize = 12;
const CRC_START: usize = 21;
const MAGIC_AT: usize = 16;
/// The largest number of headers of a record; a few bytes can promise millions.
const MAX_HEADERS: i32 = 1 << 16;

const APPEND_TIME: i16 = 0x08;
const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;
const DELETE_HORIZON: i16 = 0x40;
pub const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];

#[derive(Clone)]
pub struct Header {
    pub base_offset: i64,
    /// The size of the whole batch, in bytes.
    pub size: usize,
    pub leader_epoch: i32,
    pub magic: u8,
    pub crc: u32,
    pub attributes: i16,
    pub last_delta: i32,
    pub base_time: i64,
    pub max_time: i64,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub sequence: i32,
    pub count: i32,
}

/// The next bytes of a source.
pub enum Next {
    Batch(Header),
    /// Less than a whole batch, or a length that no batch of magic 2 has.
    More,
    /// A batch that this engine does not read.
    Other,
}

/// Read the header of the batch at *at*.
pub fn next_batch(bytes: &[u8], at: usize) -> Next {
    let mut reader = Reader::new(bytes, at);
    if reader.left() < HEADER_SIZE {
        return Next::More;
    }
    let left = reader.left();
    let mut read = || -> ReadResult<Option<Header>> {
        let base_offset = reader.i64()?;
        let length = reader.i32()?;
        let size = usize::try_from(length).map_err(|_| Malformed)? + LOG_OVERHEAD;
        if !(HEADER_SIZE..=left).contains(&size) {
            return Err(Malformed);
        }
        let leader_epoch = reader.i32()?;
        debug_assert_eq!(reader.at - at, MAGIC_AT);
        let magic = reader.u8()?;
        if !(2..128).contains(&magic) {
            return Ok(None);
        }
        Ok(Some(Header {
            base_offset,
            size,
            leader_epoch,
            magic,
            crc: reader.i32()? as u32,
            attributes: reader.i16()?,
            last_delta: reader.i32()?,
            base_time: reader.i64()?,
            max_time: reader.i64()?,
            producer_id: reader.i64()?,
            producer_epoch: reader.i16()?,
            sequence: reader.i32()?,
            count: reader.i32()?,
        }))
    };
    match read() {
        Ok(Some(header)) => Next::Batch(header),
        Ok(None) => Next::Other,
        Err(Malformed) => Next::More,
    }
}

/// Return a producer's sequence number after *increment* records (`DefaultRecordBatch.incrementSequence`).
pub fn add_sequence(sequence: i32, increment: i32) -> i32 {
    let room = i32::MAX.wrapping_sub(increment);
    if sequence > room {
        return increment
            .wrapping_sub(i32::MAX.wrapping_sub(sequence))
            .wrapping_sub(1);
    }
    sequence.wrapping_add(increment)
}

impl Header {
    pub fn codec(&self) -> usize {
        (self.attributes & 7) as usize
    }

    pub fn codec_name(&self) -> &'static str {
        CODECS.get(self.codec()).copied().unwrap_or("")
    }

    pub fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }

    pub fn is_transactional(&self) -> bool {
        self.attributes & TRANSACTIONAL != 0
    }

    pub fn is_append_time(&self) -> bool {
        self.attributes & APPEND_TIME != 0
    }

    /// Tell whether the base timestamp is not that of the first record.
    pub fn has_append_time_or_horizon(&self) -> bool {
        self.attributes & (APPEND_TIME | DELETE_HORIZON) != 0
    }

    pub fn has_delete_horizon(&self) -> bool {
        self.attributes & DELETE_HORIZON != 0
    }

    pub fn time_type(&self) -> &'static str {
        if self.is_append_time() {
            "LogAppendTime"
        } else {
            "CreateTime"
        }
    }

    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(self.last_delta as i64)
    }

    /// Tell whether the checksum matches the bytes of the batch.
    pub fn is_valid(&self, batch: &[u8]) -> bool {
        batch
            .get(CRC_START..)
            .is_some_and(|checked| crc32c::crc32c(checked) == self.crc)
    }

    /// The sequence number of a record, negative for none.
    pub fn sequence_of(&self, offset: i64) -> i32 {
        if self.sequence < 0 {
            return -1;
        }
        add_sequence(self.sequence, offset.wrapping_sub(self.base_offset) as i32)
    }

    /// Append the line that Kafka's tool prints of a batch.
    pub fn line(&self, out: &mut Vec<u8>, position: i64, is_valid: bool) {
        let last_sequence = if self.sequence == -1 {
            -1
        } else {
            add_sequence(self.sequence, self.last_delta)
        };
        put!(
            out,
            "baseOffset: ",
            self.base_offset,
            " lastOffset: ",
            self.last_offset(),
            " count: ",
            self.count,
            " baseSequence: ",
            self.sequence,
            " lastSequence: ",
            last_sequence,
            " producerId: ",
            self.producer_id,
            " producerEpoch: ",
            self.producer_epoch,
            " partitionLeaderEpoch: ",
            self.leader_epoch,
            " isTransactional: ",
            truth(self.is_transactional()),
            " isControl: ",
            truth(self.is_control()),
            " deleteHorizonMs: OptionalLong",
        );
        if self.has_delete_horizon() {
            put!(out, "[", self.base_time, "]");
        } else {
            put!(out, ".empty");
        }
        put!(
            out,
            " position: ",
            position,
            " ",
            self.time_type(),
            ": ",
            self.max_time,
            " size: ",
            self.size,
            " magic: ",
            self.magic as i32,
            " compresscodec: ",
            self.codec_name(),
            " crc: ",
            self.crc,
            " isvalid: ",
            truth(is_valid),
            "\n",
        );
    }
}

#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub offset: i64,
    pub time: i64,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    pub headers: Headers<'a>,
}

/// The headers of a record that was read once.
#[derive(Clone, Copy)]
pub struct Headers<'a> {
    pub count: i32,
    reader: Reader<'a>,
}

impl<'a> Headers<'a> {
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)> + use<'a> {
        let mut reader = self.reader;
        (0..self.count).map_while(move |_| {
            let key = reader.sized().ok()??;
            Some((key, reader.sized().ok()?))
        })
    }
}

/// Read the record at the reader; it has the batch's time if that is the append time.
#[inline(always)]
pub fn read_record<'a>(reader: &mut Reader<'a>, header: &Header) -> ReadResult<Record<'a>> {
    let size = reader.varint()?;
    let start = reader.at;
    reader.u8()?;
    let time_delta = reader.varlong()?;
    let offset_delta = reader.varint()?;
    let key = reader.sized()?;
    let value = reader.sized()?;
    let count = reader.varint()?;
    let headers = Headers {
        count,
        reader: *reader,
    };
    if count != 0 {
        if !(0..=MAX_HEADERS).contains(&count) {
            return Err(Malformed);
        }
        for _ in 0..count {
            reader.sized()?.ok_or(Malformed)?;
            reader.sized()?;
        }
    }
    if (reader.at - start) as i64 != size as i64 {
        return Err(Malformed);
    }
    let time = if header.is_append_time() {
        header.max_time
    } else {
        header.base_time.wrapping_add(time_delta)
    };
    Ok(Record {
        offset: header.base_offset.wrapping_add(offset_delta as i64),
        time,
        key,
        value,
        headers,
    })
}

/// Records in a compressed batch that are never too many, and those for each of its bytes, as in
/// `kraftops.log.batch`.
const FREE_RECORDS: usize = 64;
const RECORDS_PER_BYTE: usize = 8;

/// Tell whether the bytes from *at* on are exactly the number of records in the header.
pub fn holds_its_records(bytes: &[u8], at: usize, header: &Header) -> bool {
    let mut reader = Reader::new(bytes, at);
    for _ in 0..header.count {
        if read_record(&mut reader, header).is_err() {
            return false;
        }
    }
    reader.at == bytes.len()
}

impl Header {
    /// Tell whether a compressed batch counts more records than are read of one of its size.
    pub fn counts_too_many(&self) -> bool {
        let most = FREE_RECORDS
            + match self.is_control() {
                true => self.size / 2,
                false => RECORDS_PER_BYTE * self.size,
            };
        self.codec() != 0 && self.count as i64 > most as i64
    }

    /// A header to read the framing of records with.
    pub fn bare(count: i32) -> Header {
        Header {
            base_offset: 0,
            size: 0,
            leader_epoch: 0,
            magic: 2,
            crc: 0,
            attributes: 0,
            last_delta: 0,
            base_time: 0,
            max_time: 0,
            producer_id: 0,
            producer_epoch: 0,
            sequence: -1,
            count,
        }
    }
}
