//! Checked reading of Kafka's primitive encodings (`ByteUtils`, `ByteBufferAccessor`).

/// The error of bytes that cannot be read; `Plan::check` finds the reason.
#[derive(Debug)]
pub struct Malformed;
pub type ReadResult<T> = Result<T, Malformed>;

#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Reader { bytes, at }
    }

    #[inline(always)]
    pub fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    #[inline(always)]
    pub fn u8(&mut self) -> ReadResult<u8> {
        let byte = *self.bytes.get(self.at).ok_or(Malformed)?;
        self.at += 1;
        Ok(byte)
    }

    #[inline(always)]
    pub fn take(&mut self, size: usize) -> ReadResult<&'a [u8]> {
        let taken = self
            .bytes
            .get(self.at..)
            .ok_or(Malformed)?
            .get(..size)
            .ok_or(Malformed)?;
        self.at += size;
        Ok(taken)
    }

    #[inline(always)]
    pub fn array<const N: usize>(&mut self) -> ReadResult<[u8; N]> {
        let rest = self.bytes.get(self.at..).ok_or(Malformed)?;
        let taken = rest.first_chunk::<N>().ok_or(Malformed)?;
        self.at += N;
        Ok(*taken)
    }

    #[inline(always)]
    pub fn i16(&mut self) -> ReadResult<i16> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    #[inline(always)]
    pub fn i32(&mut self) -> ReadResult<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    #[inline(always)]
    pub fn i64(&mut self) -> ReadResult<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// Read an unsigned varint; the fifth byte can make it negative as Java's int.
    #[inline(always)]
    pub fn uvarint(&mut self) -> ReadResult<u32> {
        let first = self.u8()?;
        if first < 128 {
            return Ok(first as u32);
        }
        let mut value = (first & 127) as u32;
        for shift in [7, 14, 21, 28] {
            let byte = self.u8()?;
            value |= ((byte & 127) as u32) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    #[inline(always)]
    pub fn varint(&mut self) -> ReadResult<i32> {
        let value = self.uvarint()?;
        Ok((value >> 1) as i32 ^ -((value & 1) as i32))
    }

    #[inline(always)]
    pub fn varlong(&mut self) -> ReadResult<i64> {
        let first = self.u8()?;
        let mut value = (first & 127) as u64;
        let mut shift = 0;
        let mut byte = first;
        while byte > 127 {
            shift += 7;
            if shift == 70 {
                return Err(Malformed);
            }
            byte = self.u8()?;
            value |= ((byte & 127) as u64) << shift;
        }
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Read bytes after their length, a varint; a negative length is null.
    #[inline(always)]
    pub fn sized(&mut self) -> ReadResult<Option<&'a [u8]>> {
        let size = self.varint()?;
        if size < 0 {
            Ok(None)
        } else {
            self.take(size as usize).map(Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_keep_javas_width() {
        assert_eq!(
            Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x7f], 0)
                .uvarint()
                .ok(),
            Some(u32::MAX)
        );
        assert!(
            Reader::new(&[0xff, 0xff, 0xff, 0xff, 0xff], 0)
                .uvarint()
                .is_err()
        );
        assert_eq!(Reader::new(&[0x01], 0).varint().ok(), Some(-1));
        assert!(Reader::new(&[0xff; 11], 0).varlong().is_err());
        assert!(Reader::new(&[], 7).u8().is_err());
    }
}
